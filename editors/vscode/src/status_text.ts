/** What the status bar says: text, colour and tooltip from plain values. */

/** What the server tells with `didChangeStatus`. */
export interface ServerStatus {
  readonly kind: "Normal" | "Warning" | "Error" | "Inactive";
  readonly message: string;
  readonly busy: boolean;
}

/** `life`: of the server process. `lastMs`: how long the last suggestion took. */
export interface Shown {
  readonly life: "starting" | "running" | "stopped" | "missing";
  readonly status: ServerStatus;
  readonly model: string;
  readonly lastMs?: number | undefined;
}

export interface StatusText {
  readonly text: string;
  readonly tooltip: string;
  readonly severity: "none" | "warning" | "error";
}

export const NORMAL: ServerStatus = { kind: "Normal", message: "", busy: false };

/** What a server has told, made sense of; anything strange is taken as normal. */
export function asServerStatus(raw: unknown): ServerStatus {
  const told = (typeof raw === "object" && raw !== null ? raw : {}) as Record<string, unknown>;
  const kind = (["Normal", "Warning", "Error", "Inactive"] as const).find((known) => known === told["kind"]);
  return {
    kind: kind ?? "Normal",
    message: typeof told["message"] === "string" ? told["message"] : "",
    busy: told["busy"] === true,
  };
}

export function statusText(shown: Shown): StatusText {
  const { icon, what, severity } = stateOf(shown);
  const model = shown.life === "running" ? ` ${shortName(shown.model)}` : "";
  const latency = shown.life === "running" && shown.lastMs !== undefined ? `last suggestion: ${shown.lastMs} ms` : "";
  return {
    text: `$(${icon})${model || " midfill"}`,
    tooltip: [`midfill: ${what}`, `model: ${shown.model}`, latency].filter(Boolean).join("\n"),
    severity,
  };
}

function stateOf({ life, status }: Shown): { icon: string; what: string; severity: StatusText["severity"] } {
  if (life === "missing") {
    return { icon: "debug-disconnect", what: "no server found; click to set one up", severity: "none" };
  }
  if (life === "stopped") {
    return { icon: "debug-disconnect", what: "the server has stopped; click to restart it", severity: "error" };
  }
  if (life === "starting") {
    return { icon: "loading~spin", what: "starting", severity: "none" };
  }
  if (status.busy) {
    return { icon: "loading~spin", what: status.message || "busy", severity: "none" };
  }
  switch (status.kind) {
    case "Error":
      return { icon: "error", what: status.message || "something is wrong", severity: "error" };
    case "Warning":
      return { icon: "warning", what: status.message || "something is not right", severity: "warning" };
    case "Inactive":
      return { icon: "circle-slash", what: status.message || "nothing is suggested here", severity: "none" };
    case "Normal":
      return { icon: "sparkle", what: status.message || "ready", severity: "none" };
  }
}

/** A model may be a folder: its last part is enough. */
function shortName(model: string): string {
  return model.split(/[\\/]/).filter(Boolean).at(-1) ?? model;
}
