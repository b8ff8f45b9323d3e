/** What a command of the server came to, made sense of: anything strange is an outcome with nothing to say or do. */

/** `edit`: the server could not make it itself. `inline`: ask for ghost text again, it will be new. */
export interface Outcome {
  readonly message: string;
  readonly edit: object | undefined;
  readonly inline: boolean;
}

export function asOutcome(raw: unknown): Outcome {
  const told = (typeof raw === "object" && raw !== null ? raw : {}) as Record<string, unknown>;
  const edit = told["applied"] === false && typeof told["edit"] === "object" ? (told["edit"] ?? undefined) : undefined;
  return {
    message: typeof told["message"] === "string" ? told["message"] : "",
    edit,
    inline: told["inline"] === true,
  };
}
