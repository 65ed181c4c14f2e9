/** Two watches may fail for two reasons in turn. */
const REPEAT_MS = 600_000;

/** Says which failures of one outage a log should have: those whose reason is another than the last one that it has. */
export class ReasonLog {
  readonly #toldMs = new Map<string, number>();
  #last: string | undefined;

  /**
   * @param nowMs monotonic
   * @returns whether to log it; a reason that returns is logged again after ten minutes
   */
  isNews(reason: string, nowMs: number): boolean {
    const toldMs = this.#toldMs.get(reason) ?? -Infinity;
    if (reason === this.#last || nowMs - toldMs < REPEAT_MS) return false;
    this.#toldMs.set(reason, nowMs);
    this.#last = reason;
    return true;
  }

  /** The outage is over. */
  clear(): void {
    this.#toldMs.clear();
    this.#last = undefined;
  }
}

/** What tells two reasons apart, without text of others. A network that is down refuses, resets or is silent in turn. */
export function reasonKey(reason: string, error: unknown): string {
  const { status, code, cause } = error as { status?: unknown; code?: unknown; cause?: { code?: unknown } };
  return `${reason} ${String(status ?? (cause?.code === undefined ? code : 'network'))}`;
}
