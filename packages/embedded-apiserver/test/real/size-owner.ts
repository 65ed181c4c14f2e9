import { endpointOf, open, pod } from '@kube-semaphore/testkit';
import { startEmbeddedCluster } from '../../src/index.ts';

// A separate process, so that its memory is the cluster's alone: seeds 20,000 pods, reads them through a
// WatchList, and prints the memory and time.

const cluster = await startEmbeddedCluster({ name: 'size' });
const { token } = await cluster.account('reader', [{ apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] }]);
const endpoint = await endpointOf(cluster, token);

function* pods() {
  for (let index = 0; index < 20_000; index++) {
    const labels = { app: `app-${index % 500}` };
    yield pod({ name: `pod-${index}`, labels, ips: [`10.0.${index >> 8}.${index & 255}`], sizeBytes: 15_000 });
  }
}
cluster.seed(pods());

const started = performance.now();
const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
const headers = { accept: 'application/vnd.kubernetes.protobuf;stream=watch' };
const response = await open(endpoint, 'GET', `/api/v1/pods?${query}`, { headers });
let received = 0;
for await (const chunk of response as AsyncIterable<Buffer>) {
  received += chunk.length;
  if (chunk.includes('k8s.io/initial-events-end')) break;
}
const seconds = (performance.now() - started) / 1000;
endpoint.agent.destroy();
await cluster.stop();
console.log(JSON.stringify({ received, seconds, maxRss: process.resourceUsage().maxRSS * 1024 }));
