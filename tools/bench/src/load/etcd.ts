import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** A key of etcd and its value. */
export type Entry = { readonly key: string; readonly value: Buffer };

/** etcd accepts requests of 1.5 MiB, with base64 and gRPC's framing. */
const TRANSACTION_BYTES = 1024 * 1024;
/** The maximum of operations in one transaction. */
const TRANSACTION_OPERATIONS = 128;

/** Reads and writes etcd by its JSON API. */
export class Etcd {
  readonly #socketPath: string;
  readonly #agent = new Agent({ keepAlive: true });

  /** @param socketPath the socket file that etcd listens on */
  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /** @throws {Error} if there is no such key */
  async get(key: string): Promise<Buffer> {
    const answer = await this.#call('/v3/kv/range', JSON.stringify({ key: base64(key) }));
    const { kvs = [] } = JSON.parse(answer) as { kvs?: { value: string }[] };
    if (kvs[0] === undefined) throw new Error(`etcd has no ${key}`);
    return Buffer.from(kvs[0].value, 'base64');
  }

  /** Writes many entries, about 80 of 13 kB in one transaction. The bytes of an entry may be reused for the next one. */
  async putAll(entries: Iterable<Entry>): Promise<void> {
    for (const body of transactions(entries)) await this.#call('/v3/kv/txn', body);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #call(path: string, body: string): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const headers = { 'content-length': Buffer.byteLength(body) };
    const options = { socketPath: this.#socketPath, agent: this.#agent, method: 'POST', path, headers };
    request(options, resolve).on('error', reject).end(body);
    const response = await promise;
    const answer = await text(response);
    if (response.statusCode !== 200) throw new Error(`etcd answers ${response.statusCode} to ${path}: ${answer}`);
    return answer;
  }
}

/** The bodies of the transactions for `entries`, in order. JSON is built by hand: it has 800 MB. */
export function* transactions(entries: Iterable<Entry>): Generator<string> {
  let operations: string[] = [];
  let bytes = 0;
  for (const { key, value } of entries) {
    const full = operations.length === TRANSACTION_OPERATIONS || bytes + value.length > TRANSACTION_BYTES;
    if (full && operations.length > 0) {
      yield `{"success":[${operations.join()}]}`;
      operations = [];
      bytes = 0;
    }
    operations.push(`{"requestPut":{"key":"${base64(key)}","value":"${value.toString('base64')}"}}`);
    bytes += value.length;
  }
  if (operations.length > 0) yield `{"success":[${operations.join()}]}`;
}

function base64(key: string): string {
  return Buffer.from(key).toString('base64');
}
