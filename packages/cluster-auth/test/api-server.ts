import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import type { Authority, Certificate } from '@kube-semaphore/embedded-apiserver';

/** A request as the server received it. */
export type Sighting = {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
  /** Names and values in turn, as sent. */
  readonly rawHeaders: readonly string[];
  /** Common name of the client certificate. */
  readonly client: string | undefined;
  /** SNI; false without one. */
  readonly serverName: string | false | null;
};

/**
 * An HTTPS server that records its requests. `/watch` sends a byte and stays open. Requests for which `refuses` returns
 * true get 401.
 */
export class ApiServer implements AsyncDisposable {
  readonly seen: Sighting[] = [];
  refuses: (sighting: Sighting) => boolean = () => false;
  /** JSON by path. */
  answers: Readonly<Record<string, object>> = {};
  /** Answer to any other path. */
  body = 'ok';
  status = 200;
  /** Redirects by path. */
  locations: Readonly<Record<string, string>> = {};
  readonly #watches: ServerResponse[] = [];
  readonly #clientCa: string | undefined;
  readonly #isOptional: boolean;
  #server: Server;

  private constructor(certificate: Certificate, clientCa: string | undefined, isOptional: boolean) {
    this.#clientCa = clientCa;
    this.#isOptional = isOptional;
    this.#server = this.#make(certificate);
  }

  /**
   * @param clientCa PEM that verifies client certificates; without it the server requests none
   * @param isOptional whether a client may have none
   */
  static async start(certificate: Certificate, clientCa?: string, isOptional = false): Promise<ApiServer> {
    const api = new ApiServer(certificate, clientCa, isOptional);
    await api.#listen(0);
    return api;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  get last(): Sighting | undefined {
    return this.seen.at(-1);
  }

  /** Ends the answers to `/watch`; their connections stay. */
  endWatches(): void {
    for (const response of this.#watches.splice(0)) response.end();
  }

  /** Starts again on the same port with another certificate, like an API server after its CA was rotated. */
  async restart(certificate: Certificate): Promise<void> {
    const { port } = this;
    await this[Symbol.asyncDispose]();
    this.#server = this.#make(certificate);
    await this.#listen(port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    if (this.#server.listening) await once(this.#server, 'close');
  }

  async #listen(port: number): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  #make({ certPem: cert, keyPem: key }: Certificate): Server {
    const verify = this.#clientCa !== undefined && {
      ca: this.#clientCa,
      requestCert: true,
      rejectUnauthorized: !this.#isOptional,
    };
    return createServer({ cert, key, ...verify }, (request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const socket = request.socket as TLSSocket & { servername: string | false | null };
    const sighting: Sighting = {
      path: request.url ?? '',
      authorization: request.headers.authorization,
      body: await text(request),
      rawHeaders: request.rawHeaders,
      client: socket.getPeerCertificate()?.subject?.CN as string | undefined,
      serverName: socket.servername,
    };
    this.seen.push(sighting);
    const json = this.answers[sighting.path];
    if (this.refuses(sighting)) response.writeHead(401).end();
    else if (sighting.path === '/watch') this.#watch(response);
    else if (json !== undefined) response.writeHead(200).end(JSON.stringify(json));
    else if (this.locations[sighting.path] !== undefined)
      response.writeHead(302, { location: this.locations[sighting.path] }).end();
    else response.writeHead(this.status).end(this.body);
  }

  #watch(response: ServerResponse): void {
    response.writeHead(200).write('.');
    this.#watches.push(response);
  }
}

/** A server certificate for 127.0.0.1 and localhost. */
export function localCertificate(authority: Authority): Promise<Certificate> {
  return authority.issue({ usage: 'server', commonName: 'api', dnsNames: ['localhost'], ips: ['127.0.0.1'] });
}
