import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request as httpsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, type TestAccount, type TestCluster, writeKubeconfig } from '@kube-semaphore/testkit';

/** A request that came to a front, whoever answered it. */
export type SeenRequest = { readonly method: string; readonly url: string };

/** Answers in the API server's place. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Something between a policy and an API server that can go away, or answer itself, while the API server goes on. */
export type Front = {
  readonly url: string;
  /** A kubeconfig of `account` that leads here. */
  readonly kubeconfig: string;
  readonly caFile: string;
  /** Every request so far; a watch counts when it begins. */
  readonly requests: () => readonly SeenRequest[];
  /** Asked for each request from now on; undefined leaves it to the API server. Connections are cut. */
  readonly answerWith: (choose: (request: IncomingMessage) => Answer | undefined) => void;
  /** Leaves a request to the API server, and passes the answer on once `after` is fulfilled. */
  readonly passOn: (request: IncomingMessage, response: ServerResponse, after?: Promise<void>) => void;
  /** Cuts all connections, and refuses new ones. */
  readonly down: () => Promise<void>;
  /** Serves again, on the same port. */
  readonly up: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Puts a front before the API server of a cluster. */
export async function startFront(cluster: TestCluster, { token }: Pick<TestAccount, 'token'>): Promise<Front> {
  const authority = createAuthority();
  const { certPem, keyPem } = authority.issue({ usage: 'server', commonName: 'front', ips: ['127.0.0.1'] });
  const agent = new Agent({ ca: await readFile(cluster.caFile), keepAlive: true });
  const requests: SeenRequest[] = [];
  let choose: (request: IncomingMessage) => Answer | undefined = () => undefined;

  const server = createServer({ cert: certPem, key: keyPem, requestTimeout: 0 }, (request, response) => {
    const { method = '', url = '' } = request;
    requests.push({ method, url });
    const answer = choose(request) ?? passOn;
    answer(request, response);
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const down = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    cut();
    await closed;
  };

  const passOn: Front['passOn'] = (request, response, after = Promise.resolve()) => {
    const { method, headers } = request;
    const onward = httpsRequest(`${cluster.url}${request.url}`, { agent, method, headers }, (answer) => {
      void after.then(() => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        // The head of a watch may be long before its first event.
        response.flushHeaders();
        answer.on('error', () => response.destroy()).pipe(response);
      });
    });
    onward.on('error', () => response.destroy());
    response.once('close', () => onward.destroy());
    request.pipe(onward);
  };

  const port = await listen(0);
  const url = `https://127.0.0.1:${port}`;
  const { caPem } = authority;
  const dir = await mkdtemp(join(tmpdir(), 'front-'));
  const caFile = join(dir, 'ca.crt');
  await writeFile(caFile, caPem);
  const kubeconfig = await writeKubeconfig(join(dir, 'kubeconfig'), {
    name: 'front',
    url,
    caPem,
    credentials: { token },
  });
  return {
    url,
    kubeconfig,
    caFile,
    requests: () => requests,
    answerWith(next) {
      choose = next;
      cut();
    },
    passOn,
    down,
    up: async () => void (await listen(port)),
    async close() {
      await down();
      agent.destroy();
      await rm(dir, { recursive: true });
    },
  };
}
