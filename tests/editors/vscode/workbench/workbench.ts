/** A person at the workbench: opens files, types, looks. Whatever is waited for fails loudly, with a picture. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { CodeServer, REPOSITORY, type Place, type Wish } from "./code_server";

const PATIENCE_MS = 20_000;
const FOUND_MS = 2_000;
const SAVED_MS = 5_000;
const GHOST = ".ghost-text-decoration, .ghost-text-decoration-preview, .ghost-text .view-line, .suggest-preview-text";
const STATUS = ".statusbar-item[id*='midfill.status']";
const SHOTS = join(REPOSITORY, ".cache/vscode/shots");

declare global {
  interface Window {
    midfillToasts: string[];
  }
}

export class Workbench {
  private constructor(
    readonly place: Place,
    readonly page: Page,
    private readonly browser: Browser,
    private readonly server: CodeServer,
  ) {}

  static async open(place: Place, wish: Wish): Promise<Workbench> {
    const server = await CodeServer.start(place, wish);
    const args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
    const browser = await chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", args });
    const page = await browser.newPage({ viewport: { width: 1000, height: 640 } });
    page.setDefaultTimeout(PATIENCE_MS);
    await page.addInitScript(rememberToasts);
    const workbench = new Workbench(place, page, browser, server);
    await workbench.load();
    return workbench;
  }

  /** Load the window, as at the start or anew. */
  async load(): Promise<void> {
    await this.page.goto(this.server.url, { waitUntil: "domcontentloaded" });
    await this.page.waitForSelector(".monaco-workbench", { timeout: 90_000 });
    await this.page.waitForSelector(STATUS, { timeout: 90_000 });
  }

  /** An editor attends to suggestions only some time after its first file was opened: write until one is asked for. */
  async warmUp(): Promise<void> {
    this.place.write("warm.py", "\n");
    await this.openFile("warm.py", 1);
    await this.until("a first request", async () => {
      await this.type("x");
      return this.place.events("fill").length > 0;
    });
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.server.stop();
  }

  /** Open a file of the workspace with the cursor at the end of a line (1-based). */
  async openFile(name: string, line: number): Promise<void> {
    await this.pick(name);
    await this.page.waitForSelector(".editor-instance .monaco-editor.focused");
    await this.goTo(line);
  }

  /** Bring a file of the workspace to the front. A file made just now may not be found at the first try. */
  async pick(name: string): Promise<void> {
    const row = `.quick-input-list .monaco-list-row[aria-label^="${name}"]`;
    await this.until(`${name} among the files`, async () => {
      await this.press("Escape");
      await this.press("Control+P");
      await this.page.waitForSelector(".quick-input-widget .quick-input-list");
      await this.page.keyboard.type(name);
      return this.page.waitForSelector(row, { timeout: FOUND_MS }).then(
        () => true,
        () => false,
      );
    });
    await this.press("Enter");
    await this.page.waitForSelector(`.tab.active[data-resource-name="${name}"]`);
  }

  /** The cursor to the end of a line. */
  async goTo(line: number): Promise<void> {
    await this.press("Control+Home");
    for (let row = 1; row < line; row += 1) {
      await this.press("ArrowDown");
    }
    await this.press("End");
  }

  async press(key: string): Promise<void> {
    await this.page.keyboard.press(key);
  }

  async type(text: string): Promise<void> {
    await this.page.keyboard.type(text, { delay: 20 });
  }

  /** Run a command of the palette. */
  async run(title: string): Promise<void> {
    await this.press("F1");
    await this.page.waitForSelector(".quick-input-widget .quick-input-list .monaco-list-row");
    await this.page.keyboard.type(title);
    await this.page.waitForSelector(`.quick-input-list .monaco-list-row.focused[aria-label^="${title}"]`);
    await this.press("Enter");
  }

  /** What the ghost text says, line by line, or nothing. */
  async ghost(): Promise<string> {
    return this.page.$$eval(GHOST, (elements) => {
      const rows = new Map<number, string>();
      for (const element of elements) {
        const row = Math.round((element.closest(".view-line") ?? element).getBoundingClientRect().top);
        rows.set(row, (rows.get(row) ?? "") + (element.textContent ?? ""));
      }
      const inOrder = [...rows].sort(([one], [other]) => one - other);
      return inOrder.map(([, text]) => text.replaceAll("\u00a0", " ")).join("\n").trim();
    });
  }

  /** The pieces of a draft as it develops, drawn over the text: decorations that the extension has made. */
  private async draftPieces(): Promise<{ text: string; colour: string }[]> {
    return this.page.$$eval(".view-line span[class*='ced-']", (elements) =>
      elements
        .map((element) => getComputedStyle(element, "::before"))
        .filter(({ content }) => content.startsWith('"'))
        .map(({ content, color }) => ({ text: content.slice(1, -1).replaceAll("\u00a0", " "), colour: color })),
    );
  }

  async draft(): Promise<string> {
    return (await this.draftPieces()).map(({ text }) => text).join("");
  }

  async draftColours(): Promise<string[]> {
    return (await this.draftPieces()).map(({ colour }) => colour);
  }

  /** What the editor in use shows. */
  async lines(): Promise<string> {
    return this.page.$$eval(".editor-instance .view-line", (all) => all.map((line) => (line.textContent ?? "").replaceAll("\u00a0", " ")).join("\n"));
  }

  async waitForGhost(text: string): Promise<void> {
    await this.until(`ghost text ${JSON.stringify(text)}`, async () => (await this.ghost()).startsWith(text));
  }

  async waitForNoGhost(): Promise<void> {
    await this.until("no ghost text", async () => (await this.ghost()) === "");
  }

  /** Accept words until the rest is this; the space between two words counts as one of them. */
  async acceptWordsUntilGhost(rest: string): Promise<void> {
    for (let num = 0; num < 3 && !(await this.ghost()).startsWith(rest); num += 1) {
      const before = await this.column();
      await this.press("Control+ArrowRight");
      await this.until("the cursor to move on", async () => (await this.column()) !== before);
    }
    await this.waitForGhost(rest);
  }

  /** Where the cursor is, in the status bar's words. */
  async column(): Promise<string> {
    return this.page.$eval("#status\\.editor\\.selection", (element) => element.textContent ?? "");
  }

  /** Save, and read what is in the file once it is as it should be, or when patience is over. */
  async saved(name: string, isRight: (text: string) => boolean): Promise<string> {
    await this.press("Control+S");
    const deadline = Date.now() + SAVED_MS;
    while (!isRight(this.place.read(name)) && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return this.place.read(name);
  }

  /** Save; the file must then be this. */
  async mustSave(name: string, expected: string): Promise<void> {
    assert.equal(await this.saved(name, (text) => text === expected), expected);
  }

  async status(): Promise<string> {
    return (await this.page.$eval(STATUS, (element) => element.getAttribute("aria-label") ?? "")).replaceAll("\n", " · ");
  }

  async waitForStatus(text: string): Promise<void> {
    await this.until(`a status with ${JSON.stringify(text)}`, async () => (await this.status()).includes(text));
  }

  /** What the status bar says for a while. */
  async waitForWords(text: string): Promise<void> {
    await this.until(`${JSON.stringify(text)} in the status bar`, async () =>
      (await this.page.$eval(".part.statusbar", (bar) => bar.textContent ?? "")).includes(text),
    );
  }

  /** Every toast that has been on the screen since the window was loaded. */
  async toasts(): Promise<string[]> {
    return this.page.evaluate(() => window.midfillToasts);
  }

  async picture(name: string): Promise<string> {
    mkdirSync(SHOTS, { recursive: true });
    const path = join(SHOTS, `${name}.png`);
    await this.page.screenshot({ path });
    return path;
  }

  async until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!(await isSo())) {
      if (Date.now() > deadline) {
        const seen = `ghost ${JSON.stringify(await this.ghost())}, ${await this.status()}, ${await this.picture("failure")}`;
        throw new Error(`waited in vain for ${what}: ${seen}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Runs in the page: looks for toasts all the time, so that none that goes away by itself is missed. */
function rememberToasts(): void {
  window.midfillToasts = [];
  setInterval(() => {
    for (const toast of document.querySelectorAll(".notifications-toasts .notification-list-item-message")) {
      const text = toast.textContent ?? "";
      if (text && !window.midfillToasts.includes(text)) {
        window.midfillToasts.push(text);
      }
    }
  }, 50);
}
