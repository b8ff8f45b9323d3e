/**
 * Somebody typed while the model was being loaded and got nothing. When it is there, and they still wait at the same
 * place, they are asked for: the protocol has no way for a server to say "ask me again".
 */

/** A place in a text that has not been changed since: the cursor's, as the editor names it. */
export interface Place {
  readonly uri: string;
  readonly version: number;
  readonly line: number;
  readonly character: number;
}

export class Missed {
  private place: Place | undefined;

  /** A request at a place was answered. */
  answered(place: Place, isEmpty: boolean, isBusy: boolean): void {
    this.place = isEmpty && isBusy ? place : undefined;
  }

  /** The model is there; whether to ask for whoever is at `now`. Asked once. */
  isWaiting(now: Place | undefined): boolean {
    const { place } = this;
    this.place = undefined;
    const names = ["uri", "version", "line", "character"] as const;
    return place !== undefined && now !== undefined && names.every((name) => place[name] === now[name]);
  }
}
