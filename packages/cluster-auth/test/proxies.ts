import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { Certificate } from '@kube-semaphore/embedded-apiserver';
import { onTestFinished } from 'vitest';

/** A proxy that connects every request to one port of this machine, for any host. */
export type TestProxy = { readonly port: number; readonly asked: string[] };

type Options = {
  readonly leadsTo: number;
  /** The user and password that it requires. */
  readonly credentials?: string;
  /** The answer of an HTTP proxy instead of a tunnel; undefined: no answer. */
  readonly answer?: string | undefined;
};

/** An HTTP proxy; with a certificate, over TLS. */
export async function startConnectProxy(options: Options, certificate?: Certificate): Promise<TestProxy> {
  const asked: string[] = [];
  const server =
    certificate === undefined
      ? createServer()
      : createTlsServer({ cert: certificate.certPem, key: certificate.keyPem });
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    asked.push(request.url ?? '');
    client.on('error', () => client.destroy());
    const wanted = options.credentials && `Basic ${Buffer.from(options.credentials).toString('base64')}`;
    if (wanted && request.headers['proxy-authorization'] !== wanted) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    } else if ('answer' in options) {
      if (options.answer !== undefined) client.end(options.answer);
    } else {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      join(client, options.leadsTo);
    }
  });
  return listen(server, asked);
}

/** A SOCKS5 proxy for addresses and names. */
export async function startSocksProxy({ leadsTo, credentials }: Options): Promise<TestProxy> {
  const asked: string[] = [];
  const server = createTcpServer((client) => {
    client.on('error', () => client.destroy());
    void converse(client, leadsTo, credentials, asked).catch(() => client.destroy());
  });
  return listen(server, asked);
}

/** A proxy that sends these answers, one per message, and then closes the connection. It records requests in hexadecimal. */
export async function startAnsweringProxy(answers: readonly (readonly number[])[]): Promise<TestProxy> {
  const asked: string[] = [];
  const server = createTcpServer((client) => {
    const left = [...answers];
    client.on('error', () => client.destroy());
    client.on('data', (message) => {
      asked.push(message.toString('hex'));
      client.write(Buffer.from(left.shift() ?? []));
      if (left.length === 0) client.end();
    });
  });
  return listen(server, asked);
}

async function converse(
  client: Socket,
  leadsTo: number,
  credentials: string | undefined,
  asked: string[],
): Promise<void> {
  const next = async () => ((await once(client, 'data')) as [Buffer])[0];
  await next();
  client.write(Buffer.of(5, credentials === undefined ? 0 : 2));
  if (credentials !== undefined) {
    const login = await next();
    const user = login.subarray(2, 2 + (login[1] ?? 0)).toString();
    const password = login.subarray(3 + (login[1] ?? 0)).toString();
    const status = `${user}:${password}` === credentials ? 0 : 1;
    client.write(Buffer.of(1, status));
    if (status !== 0) return;
  }
  const request = await next();
  const [type] = request.subarray(3);
  const address = request.subarray(4, -2);
  const host = type === 3 ? address.subarray(1).toString() : address.toString('hex');
  asked.push(`${type} ${host} ${request.readUInt16BE(request.length - 2)}`);
  // In two pieces, as an answer need not arrive in one.
  client.write(Buffer.of(5, 0, 0));
  client.write(Buffer.of(1, 127, 0, 0, 1, 0, 80));
  join(client, leadsTo);
}

function join(client: Socket, port: number): void {
  const target = connect(port, '127.0.0.1');
  client.pipe(target).pipe(client);
  for (const socket of [client, target]) {
    socket.on('error', () => {});
    socket.on('close', () => (socket === client ? target : client).destroy());
  }
}

async function listen(server: Server, asked: string[]): Promise<TestProxy> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, asked };
}
