/** What the server sends only to clients that show it, and this one shows: drafts as they develop, and its status. */
import type { ClientCapabilities } from "vscode-languageserver-protocol";

const SHOWN = { drafts: true, status: true };

export function optedIn(capabilities: ClientCapabilities): ClientCapabilities {
  const experimental = (capabilities.experimental ?? {}) as Record<string, unknown>;
  return { ...capabilities, experimental: { ...experimental, midfill: SHOWN } };
}
