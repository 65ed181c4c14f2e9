/** Sends a GET of a path to the cluster of a reference, prints whether there was an answer, and waits for its end. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { type AgentRequestOptions, type ClusterReference, connect } from '../../src/index.ts';

const reference = JSON.parse(process.argv[2] ?? '') as ClusterReference;
const path = process.argv[3] ?? '/';
const { signal } = new AbortController();

const log = { info: () => {}, warn: () => {} };
const connection = await connect(reference, { env: {}, log });
try {
  const { agent, headers } = await connection.authorize({ signal });
  const options: AgentRequestOptions = { agent, headers };
  const [response] = (await once(https.get(new URL(path, connection.server), options), 'response')) as [
    IncomingMessage,
  ];
  console.log('reached');
  await once(response.resume(), 'end');
} catch (error) {
  console.log(`not reached: ${(error as Error).message}`);
} finally {
  connection.close();
}
