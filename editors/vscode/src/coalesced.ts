/** Many reasons in quick succession, one run: after a pause, and never two runs at once. */

export interface Clock {
  /** Calls back later; returns how to take that back. */
  after(ms: number, callback: () => void): () => void;
}

export const realClock: Clock = {
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

export class Coalesced {
  private takeBack: (() => void) | undefined;
  private running: Promise<void> | undefined;
  private isAskedAgain = false;
  private isOver = false;

  constructor(
    private readonly run: () => Promise<void>,
    private readonly pauseMs: number,
    private readonly clock: Clock = realClock,
  ) {}

  /** Have it run soon; asked again meanwhile, the pause begins anew. */
  ask(pauseMs: number = this.pauseMs): void {
    this.takeBack?.();
    if (!this.isOver) {
      this.takeBack = this.clock.after(pauseMs, () => void this.now());
    }
  }

  /** Have it run at once, or once more after the run in progress. */
  async now(): Promise<void> {
    this.takeBack?.();
    this.takeBack = undefined;
    if (this.running !== undefined) {
      this.isAskedAgain = true;
      return this.running;
    }
    this.running = this.runUntilNobodyAsks();
    try {
      await this.running;
    } finally {
      this.running = undefined;
    }
  }

  /** Run no more. */
  end(): void {
    this.isOver = true;
    this.takeBack?.();
  }

  private async runUntilNobodyAsks(): Promise<void> {
    do {
      this.isAskedAgain = false;
      if (!this.isOver) {
        await this.run();
      }
    } while (this.isAskedAgain && !this.isOver);
  }
}
