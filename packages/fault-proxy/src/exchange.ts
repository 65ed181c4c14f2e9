import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, OutgoingMessage, ServerResponse } from 'node:http';
import type { Agent } from 'node:https';
import { ActiveFaults } from './active-faults.ts';
import { firstEvent, targetOfNothing } from './empty.ts';
import type { Ending } from './fault.ts';
import type { FilteredRequest } from './filter.ts';
import { endToEnd, forward } from './forward.ts';
import { standIn, type StandIn } from './stand-in.ts';

export type ExchangeOptions = {
  readonly seen: FilteredRequest;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The API server's URL. */
  readonly url: string;
  readonly agent: Agent;
  /** Resets the client's connection. */
  readonly reset: () => void;
};

/**
 * One request to the API server and its answer, passed on chunk by chunk. Faults may
 * change meanwhile.
 */
export class Exchange {
  readonly faults: ActiveFaults;
  readonly #options: ExchangeOptions;
  readonly #over = new AbortController();
  #lengthPromised = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.faults = new ActiveFaults(this.#over.signal);
    // Also if the client closes only its half of the connection, as in kube-apiserver.
    options.response.once('close', () => this.#over.abort());
    // What a fault ended may still be written to: the callback of that write has the same error.
    options.response.on('error', () => {});
  }

  get seen(): FilteredRequest {
    return this.#options.seen;
  }

  /** Ends the answer early, unless it is complete. */
  end(by: Ending): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort();
    const { response, reset } = this.#options;
    if (by === 'reset') reset();
    else if (by === 'clean' && response.headersSent && !this.#lengthPromised) response.end();
    else response.destroy();
  }

  /** Resolves when the answer is complete, or the exchange has ended early. */
  async run(): Promise<void> {
    try {
      await this.faults.flowing('requests');
      await this.faults.delayed('requestMs');
      await this.#answer();
    } catch {
      // Aborts the answer as the API server did. If the client or a fault ended it, nothing is left to do.
      await this.faults.flowing('answers');
      this.end('reset');
    }
  }

  async #answer(): Promise<void> {
    this.#over.signal.throwIfAborted();
    const asked = { ...this.seen, accept: this.#options.request.headers.accept };
    for (const fault of this.faults.all()) {
      const substitute = standIn(fault, asked);
      if (substitute !== undefined) return this.#substitute(substitute);
    }
    await this.#passOn();
  }

  async #substitute({ status, headers, body, hangs = false }: StandIn): Promise<void> {
    const { response } = this.#options;
    this.#lengthPromised = 'content-length' in headers;
    await this.faults.flowing('answers');
    response.writeHead(status, headers).flushHeaders();
    await this.#send(body);
    if (hangs) await this.#untilOver();
    else this.#finish();
  }

  async #passOn(): Promise<void> {
    const { request, response, url, agent } = this.#options;
    const { verb, target } = this.seen;
    const empty = this.faults.of('empty').length > 0 && (verb === 'list' || isWatchList(this.seen));
    const { signal } = this.#over;
    const { onward, answer } = forward(request, empty ? targetOfNothing(target) : target, { url, agent, signal });
    // It may fail because the answer came before the end of the body; then the answer matters.
    this.#upload(onward).catch(() => {});
    const upstream = await answer;
    await this.faults.flowing('answers');
    const shortened = this.faults.of('truncate').some(({ by }) => by === 'clean');
    this.#lengthPromised = !shortened && 'content-length' in upstream.headers;
    const headers = endToEnd(upstream.rawHeaders, shortened ? ['content-length'] : []);
    // At once, because the first event of a watch may come much later than its head.
    response.writeHead(upstream.statusCode!, headers).flushHeaders();
    const { 'content-type': contentType = '' } = upstream.headers;
    await this.#send(empty && verb === 'watch' ? firstEvent(upstream, contentType) : upstream);
    this.#finish();
  }

  async #upload(onward: ClientRequest): Promise<void> {
    for await (const chunk of this.#options.request as AsyncIterable<Buffer>) {
      await this.faults.flowing('requests');
      await write(onward, chunk);
    }
    await this.faults.flowing('requests');
    onward.end();
  }

  /** Sends a body, and ends the exchange early if a fault says so. The caller ends it otherwise. */
  async #send(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    for await (const chunk of this.#pieces(body)) {
      await this.faults.flowing('answers');
      const cut = this.faults.truncation(chunk.length);
      await write(this.#options.response, chunk.subarray(0, cut?.at));
      this.faults.count(cut?.at ?? chunk.length);
      if (cut === undefined) continue;
      this.end(cut.by);
      return;
    }
    await this.faults.flowing('answers');
  }

  async *#pieces(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      await this.faults.flowing('answers');
      await this.faults.delayed('chunkMs');
      yield* this.faults.paced(chunk);
    }
  }

  #finish(): void {
    if (!this.#over.signal.aborted) this.#options.response.end();
  }

  async #untilOver(): Promise<void> {
    if (!this.#over.signal.aborted) await once(this.#over.signal, 'abort');
  }
}

/** Resolves when the kernel has the bytes: only then may the connection that delivers them end. Rejects if it ends before. */
function write(to: OutgoingMessage, bytes: Uint8Array): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onClose = (): void => reject(new Error('the connection ended'));
  to.once('close', onClose);
  to.write(bytes, (error) => (error ? reject(error) : resolve()));
  return promise.finally(() => to.off('close', onClose));
}

function isWatchList({ verb, target }: FilteredRequest): boolean {
  return verb === 'watch' && target.includes('sendInitialEvents=true');
}
