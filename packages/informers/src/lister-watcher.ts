import { BodyTooLargeError } from '@kube-semaphore/kube-client';
import { Codec, type Kind, type KubeObject, type Page } from '@kube-semaphore/kube-objects';
import type { Heartbeat } from './heartbeat.ts';
import type { ReflectorOptions } from './reflector-options.ts';
import type { Stored } from './store/store.ts';

const PAGE_LIMIT = 500;
/** Jittered so that a fleet of watches doesn't end in the same second, as in client-go: 5 to 10 minutes. */
const WATCH_SECONDS = { least: 300, spread: 300 };

type Options<K extends Kind> = Pick<
  ReflectorOptions<K, Stored>,
  'client' | 'kind' | 'namespace' | 'labelSelector' | 'fieldSelector'
> & { readonly random: () => number };

/** Where a watch begins: after a version, or with everything that exists (WatchList). */
type WatchStart = { readonly resourceVersion: string } | { readonly sendInitialEvents: true };

/** The lists and watches of one resource of one API server. */
export class ListerWatcher<K extends Kind> {
  readonly #options: Options<K>;
  readonly #codec: Codec<K>;
  readonly #heartbeat: Heartbeat;
  #fieldSelector: string | undefined;
  #pageLimit = PAGE_LIMIT;
  #verb: 'list' | 'watch' = 'list';

  constructor(options: Options<K>, heartbeat: Heartbeat) {
    this.#options = options;
    this.#codec = new Codec(options.kind);
    this.#heartbeat = heartbeat;
    this.#fieldSelector = options.fieldSelector;
  }

  /** The verb of the last request. */
  get verb(): 'list' | 'watch' {
    return this.#verb;
  }

  /** The pages of one list, each with how many objects were requested. */
  async *pages(signal: AbortSignal): AsyncGenerator<{ page: Page<KubeObject<K>>; limit: number }> {
    this.#verb = 'list';
    let token = '';
    do {
      const page = await this.#page(token, signal);
      yield { page, limit: this.#pageLimit };
      token = page.continue;
    } while (token !== '');
  }

  /** The newest version in the server's history, from a page of one object. */
  async newestVersion(signal: AbortSignal): Promise<string> {
    this.#verb = 'list';
    const { resourceVersion } = await this.#list({ limit: 1, signal });
    return resourceVersion;
  }

  async watch(start: WatchStart & { readonly idleTimeoutMs: number }, signal: AbortSignal) {
    this.#verb = 'watch';
    const timeoutSeconds = WATCH_SECONDS.least + Math.floor(this.#options.random() * WATCH_SECONDS.spread);
    const { client } = this.#options;
    const stream = await client.watch(this.#codec, { ...this.#selection(), ...start, timeoutSeconds, signal });
    this.#heartbeat.beat();
    return stream;
  }

  /** Requests everything from now on; the projection must select by itself. */
  dropFieldSelector(): void {
    this.#fieldSelector = undefined;
  }

  /** Halves the page, from now on, while it is too large for our memory. */
  async #page(token: string, signal: AbortSignal): Promise<Page<KubeObject<K>>> {
    for (;;) {
      try {
        return await this.#list({ limit: this.#pageLimit, continue: token, signal });
      } catch (error) {
        if (!(error instanceof BodyTooLargeError) || this.#pageLimit === 1) throw error;
        this.#pageLimit = Math.floor(this.#pageLimit / 2);
      } finally {
        this.#heartbeat.beat();
      }
    }
  }

  #list(options: { limit: number; continue?: string; signal: AbortSignal }): Promise<Page<KubeObject<K>>> {
    return this.#options.client.list(this.#codec, { ...this.#selection(), ...options });
  }

  #selection() {
    const { namespace, labelSelector } = this.#options;
    return {
      ...(namespace !== undefined && { namespace }),
      ...(labelSelector !== undefined && { labelSelector }),
      ...(this.#fieldSelector !== undefined && { fieldSelector: this.#fieldSelector }),
    };
  }
}
