/** How often a server that ends by itself is started again: with growing pauses, and not for ever. */

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const MOST_IN_A_ROW = 5;
const CALM_MS = 60_000;

export class Crashes {
  private numInARow = 0;
  private startedAt = 0;

  constructor(private readonly now: () => number = Date.now) {}

  /** The server runs. */
  started(): void {
    this.startedAt = this.now();
  }

  /** Somebody wants it to run: what was before does not count. */
  forget(): void {
    this.numInARow = 0;
  }

  /** The server has ended, or could not be started; how long to wait, undefined: leave it. */
  pauseBeforeRestart(): number | undefined {
    if (this.startedAt > 0 && this.now() - this.startedAt >= CALM_MS) {
      this.numInARow = 0;
    }
    this.startedAt = 0;
    this.numInARow += 1;
    if (this.numInARow > MOST_IN_A_ROW) {
      return undefined;
    }
    return Math.min(FIRST_PAUSE_MS * 2 ** (this.numInARow - 1), LONGEST_PAUSE_MS);
  }
}
