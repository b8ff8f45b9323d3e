/** A language client that never opens a message box: whatever goes wrong is a line in the log. */
import * as vscode from "vscode";
import {
  LanguageClient,
  ShowMessageNotification,
  ShowMessageRequest,
  type InitializeParams,
  type LanguageClientOptions,
  type ServerOptions,
} from "vscode-languageclient/node";
import { optedIn } from "./opting_in";

export class QuietClient extends LanguageClient {
  constructor(server: ServerOptions, options: LanguageClientOptions, log: vscode.LogOutputChannel) {
    super("midfill", "midfill", server, options);
    this.onNotification(ShowMessageNotification.type, ({ message }) => log.info(message));
    this.onRequest(ShowMessageRequest.type, ({ message }) => {
      log.info(message);
      return null;
    });
  }

  protected override fillInitializeParams(params: InitializeParams): void {
    super.fillInitializeParams(params);
    params.capabilities = optedIn(params.capabilities);
  }

  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  override warn(message: string, data?: unknown): void {
    super.warn(message, data, false);
  }

  override info(message: string, data?: unknown): void {
    super.info(message, data, false);
  }

  override debug(message: string, data?: unknown): void {
    super.debug(message, data, false);
  }
}
