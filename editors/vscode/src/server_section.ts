/**
 * The settings as the server gets them: null for what nobody has set, so that what the server reads elsewhere counts.
 *
 * What was set when the server started is the server's own base from then on; once unset it is told as the default.
 */

/** `value`: in force, with the default if nothing is set. */
export interface Setting {
  readonly value: unknown;
  readonly isSet: boolean;
}

export class ServerSection {
  private readonly toldAtStart: ReadonlySet<string>;

  /** `read`: the server's settings as they are now, by name. */
  constructor(private readonly read: () => ReadonlyMap<string, Setting>) {
    this.toldAtStart = new Set([...read()].filter(([, setting]) => setting.isSet).map(([name]) => name));
  }

  /** For `initialize`: only what is set. */
  initial(): Record<string, unknown> {
    return Object.fromEntries([...this.read()].filter(([, setting]) => setting.isSet).map(([name, { value }]) => [name, value]));
  }

  /** For `workspace/configuration`. */
  current(): Record<string, unknown> {
    return Object.fromEntries(
      [...this.read()].map(([name, { value, isSet }]) => [name, isSet || this.toldAtStart.has(name) ? value : null]),
    );
  }
}
