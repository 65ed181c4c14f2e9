import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { ConfigError, type ConfigSource, type Logger } from '@kube-semaphore/runtime';
import type { Inventory } from '../inventory/inventory.ts';
import { warnOfConfig } from './config-source.ts';
import type { RemoteChanges } from '../remote/remotes.ts';

export type LiveConfigOptions = {
  /** As it was read at the start. */
  readonly file: ConfigSource;
  /**
   * Puts a changed file in force, or an unchanged one with the present remotes of the inventory.
   *
   * @throws {ConfigError} with every problem; then all stays as it was; the signal's reason
   */
  readonly apply: (file: ConfigSource, running: RunOptions) => Promise<Applied>;
  /** Its remotes are put in force as those of the file are. */
  readonly inventory?: Pick<Inventory, 'run' | 'poll' | 'answered' | 'tried'> | undefined;
  readonly log: Logger;
  /** Default: 1 s. */
  readonly intervalMs?: number;
};

/** What came of a changed file. */
type Applied = {
  readonly changes: RemoteChanges;
  /** Fields whose values take effect at the next start only. */
  readonly needRestart: readonly string[];
  /** About the file, for the log. */
  readonly warnings: readonly string[];
};

/** What `/status` says of the config file. */
export type ConfigFileStatus = {
  readonly path: string;
  /** When the content came in force, in ISO 8601. */
  readonly since: string;
  /** Why the present content isn't in force, but an earlier one, or why the present remotes of the inventory aren't. */
  readonly problems: readonly string[];
  /** Fields whose present values take effect at the next start only. */
  readonly needRestart: readonly string[];
};

/** A file with problems is tried again, as what it names may be there by then. */
const RETRY_MS = 10_000;

/** A config file that takes effect when it changes. An invalid one doesn't: what was in force stays. */
export class LiveConfig {
  readonly #options: LiveConfigOptions;
  #inForce: string;
  #since = new Date();
  #needRestart: readonly string[] = [];
  /** The present content, if it has problems, and when it was last tried. */
  #failed: { readonly content: string; readonly problems: readonly string[]; readonly atMs: number } | undefined;
  /** When the remotes of the inventory were last refused as a whole, and why. */
  #failedInventory: { readonly problems: readonly string[]; readonly atMs: number } | undefined;

  constructor(options: LiveConfigOptions) {
    this.#options = options;
    this.#inForce = options.file.content;
  }

  /** Whether what the file says, with the remotes of its inventory, isn't in force as a whole. */
  get isStale(): boolean {
    const { problems, needRestart } = this.status();
    return problems.length + needRestart.length > 0;
  }

  status(): ConfigFileStatus {
    const { path } = this.#options.file;
    // A kubeconfig that is gone is a problem of both.
    const problems = new Set([this.#failed, this.#failedInventory].flatMap((failed) => failed?.problems ?? []));
    return { path, since: this.#since.toISOString(), problems: [...problems], needRestart: this.#needRestart };
  }

  /**
   * Reads the file each second until `signal` is aborted, and watches the inventory. A file that can't be read is no change:
   * kubelet replaces a link.
   */
  async run({ signal }: RunOptions): Promise<void> {
    const { inventory } = this.#options;
    await Promise.all([inventory?.run({ signal }), this.#follow({ signal })]);
  }

  /** The same while `use` runs. @returns what `use` returns */
  async during<T>(use: () => Promise<T>, { signal }: RunOptions): Promise<T> {
    const ended = new AbortController();
    const [result] = await Promise.all([
      use().finally(() => ended.abort()),
      this.run({ signal: AbortSignal.any([signal, ended.signal]) }),
    ]);
    return result;
  }

  async #follow({ signal }: RunOptions): Promise<void> {
    const { file, inventory, intervalMs = 1_000 } = this.#options;
    const answer = new AbortController();
    void inventory?.answered.then(() => answer.abort());
    // What the inventory first answers doesn't wait for the interval.
    const untilAnswer = AbortSignal.any([signal, answer.signal]);
    let isTried = false;
    while (!signal.aborted) {
      await delay(intervalMs, undefined, { signal: isTried ? signal : untilAnswer }).catch(() => undefined);
      if (signal.aborted) break;
      const content = await readFile(file.path, 'utf8').catch(() => undefined);
      if (content !== undefined && this.#isDue(content)) await this.#apply(content, { signal });
      const { atMs } = this.#failedInventory ?? {};
      const isRetry = atMs !== undefined && performance.now() - atMs >= RETRY_MS;
      const isFirst = answer.signal.aborted && !isTried;
      if ((await inventory?.poll()) === true || isFirst || isRetry) await this.#applyInventory({ signal });
      if (isFirst) {
        isTried = true;
        inventory?.tried();
      }
    }
    inventory?.tried();
  }

  async #applyInventory({ signal }: RunOptions): Promise<void> {
    const { file, apply, log } = this.#options;
    try {
      const { changes } = await apply({ path: file.path, content: this.#inForce }, { signal });
      this.#failedInventory = undefined;
      if (hasChanges(changes)) log.info(changes, 'remotes of the inventory changed');
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ConfigError)) throw error;
      const { problems } = error;
      if (!isDeepStrictEqual(problems, this.#failedInventory?.problems))
        log.warn({ problems }, 'remotes of the inventory are not in force');
      this.#failedInventory = { problems, atMs: performance.now() };
    }
  }

  #isDue(content: string): boolean {
    if (this.#failed === undefined) return content !== this.#inForce;
    return content !== this.#failed.content || performance.now() - this.#failed.atMs >= RETRY_MS;
  }

  async #apply(content: string, { signal }: RunOptions): Promise<void> {
    const { file, apply, log } = this.#options;
    const { path } = file;
    try {
      if (content === this.#inForce) log.info({ path }, 'config file is as before');
      else {
        const { changes, needRestart, warnings } = await apply({ path, content }, { signal });
        warnOfConfig({ path }, warnings, log);
        this.#inForce = content;
        this.#failedInventory = undefined;
        this.#since = new Date();
        this.#needRestart = needRestart;
        const isWaiting = needRestart.length > 0;
        if (hasChanges(changes) || !isWaiting) log.info({ path, ...changes }, 'config file changed, and is in force');
        if (isWaiting) log.warn({ path, fields: needRestart }, 'restart to apply these fields');
      }
      this.#failed = undefined;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ConfigError)) throw error;
      const { problems } = error;
      const isNews = !isDeepStrictEqual(problems, this.#failed?.problems);
      this.#failed = { content, problems, atMs: performance.now() };
      if (isNews) log.warn({ path, problems }, 'config file changed and is invalid; the last valid one stays in force');
    }
  }
}

const hasChanges = (changes: RemoteChanges): boolean => Object.values(changes).some(({ length }) => length > 0);

/** The fields that differ between two documents, as `local.cidrs`; a list or a value is one field. */
export function changedFields(before: unknown, after: unknown, at = ''): readonly string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [at];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => changedFields(before[key], after[key], at === '' ? key : `${at}.${key}`));
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
