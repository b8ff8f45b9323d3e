import assert from "node:assert/strict";
import { test } from "node:test";
import { Coalesced, type Clock } from "../../../../editors/vscode/src/coalesced";

/** Time passes when the test says so. */
class HandClock implements Clock {
  private now = 0;
  private readonly due = new Map<() => void, number>();

  after(ms: number, callback: () => void): () => void {
    this.due.set(callback, this.now + ms);
    return () => this.due.delete(callback);
  }

  pass(ms: number): void {
    this.now += ms;
    for (const [callback, at] of [...this.due]) {
      if (at <= this.now) {
        this.due.delete(callback);
        callback();
      }
    }
  }
}

/** Runs that last until they are let go. */
function held(): { run: () => Promise<void>; letGo: () => Promise<void>; count: () => number } {
  const waiting: (() => void)[] = [];
  let count = 0;
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    run: () => {
      count += 1;
      return new Promise((resolve) => waiting.push(resolve));
    },
    letGo: async () => {
      waiting.shift()?.();
      await settle();
    },
    count: () => count,
  };
}

test("many reasons in quick succession are one run, after the last of them", () => {
  const clock = new HandClock();
  let runs = 0;
  const coalesced = new Coalesced(async () => void (runs += 1), 500, clock);
  for (let time = 0; time < 5; time += 1) {
    coalesced.ask();
    clock.pass(400);
  }
  assert.equal(runs, 0);
  clock.pass(100);
  assert.equal(runs, 1);
  clock.pass(10_000);
  assert.equal(runs, 1);
});

test("asked during a run, it runs once more afterwards, however often it was asked", async () => {
  const { run, letGo, count } = held();
  const coalesced = new Coalesced(run, 0, new HandClock());
  const all = [coalesced.now(), coalesced.now(), coalesced.now()];
  assert.equal(count(), 1);
  await letGo();
  assert.equal(count(), 2);
  await letGo();
  await Promise.all(all);
  assert.equal(count(), 2);
});

test("run at once, what was asked for later is done with", async () => {
  const clock = new HandClock();
  let runs = 0;
  const coalesced = new Coalesced(async () => void (runs += 1), 500, clock);
  coalesced.ask();
  await coalesced.now();
  clock.pass(1_000);
  assert.equal(runs, 1);
});

test("after the end nothing runs", async () => {
  const clock = new HandClock();
  let runs = 0;
  const coalesced = new Coalesced(async () => void (runs += 1), 500, clock);
  coalesced.ask();
  coalesced.end();
  coalesced.ask();
  clock.pass(1_000);
  await coalesced.now();
  assert.equal(runs, 0);
});

test("a run that fails hinders no later one", async () => {
  let runs = 0;
  const coalesced = new Coalesced(async () => {
    runs += 1;
    if (runs === 1) {
      throw new Error("once");
    }
  }, 0, new HandClock());
  await assert.rejects(coalesced.now());
  await coalesced.now();
  assert.equal(runs, 2);
});
