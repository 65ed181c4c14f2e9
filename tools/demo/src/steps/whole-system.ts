import { inspect, Scenarios, System, type Tally, WEB_URL } from '@kube-semaphore/e2e';
import { findBinaries } from '@kube-semaphore/testkit';
import { table } from '../text/table.ts';
import type { Demo, Step } from './start.ts';

/** The content of a call, to search for on the wire. */
const SECRET = 'hello from a pod of c1';

/** Time for which the API server of c2 is down. */
const OUTAGE_MS = 60_000;

/** Two whole clusters, with real programs in place of the demo's own. */
export const wholeSystem: Step = async (demo) => {
  const { out } = demo;
  const binaries = findBinaries(['kube-controller-manager', 'kube-proxy', 'coredns', 'wireguard-go', 'kubectl']);
  if (!binaries.ok) return out.step('The whole system', `For this, the following is missing here: ${binaries.reason}`);
  const scenarios = await install(demo);
  const rows = [['', 'seconds', 'calls', 'failed']];
  const report = (what: string, { calls, failed, ms }: Tally) => {
    rows.push([what, (ms / 1_000).toFixed(1), String(calls.length), String(failed.length)]);
    out.result(`${what}: of ${calls.length} calls, ${failed.length === 0 ? 'none' : failed.length} failed`, ms);
  };
  const reportNoLoss = (what: string, tally: Tally) => {
    const [first] = tally.failed;
    if (first) throw new Error(`${tally.failed.length} calls failed, first ${JSON.stringify(first)}`);
    report(what, tally);
  };

  out.step(
    'A rollout',
    `The pod in c1 calls the app twenty times a second, each time by its name and with a new
    connection. In c2, a new version of the app rolls out.`,
  );
  reportNoLoss('A rollout', await scenarios.rollOut('v2'));

  out.step(
    'A node is added, and lost',
    `c2 gets a third node, and the app a pod on it. The agent announces the node,
    and the nodes of c1 make it a peer.`,
  );
  const added = await scenarios.addNode();
  reportNoLoss('A node is added', added);
  out.say(`Now the node loses power. Kubernetes needs 40 s or more to notice. Until then, some calls still go there, also
    within the cluster. The demo tells Kubernetes as soon as a call fails.`);
  const lost = await scenarios.loseNode(added);
  const [podIp = ''] = added.pod.ips;
  if (lost.ledTo.size !== 1 || !lost.ledTo.has(podIp)) throw new Error(`calls to ${[...lost.ledTo].join(', ')} failed`);
  report('A node is lost', lost);
  out.say(`By tcpdump, all failed calls went to the pod on the lost node, ${podIp}.`);

  const outage = 'The API server of c2 is down for a minute';
  out.step(outage, 'The API server of c2 is killed, and started again a minute later.');
  reportNoLoss(outage, await scenarios.loseApiserver(OUTAGE_MS));
  out.step('All calls', 'All calls from c1 to c2, by what happened:', table(rows));
};

/** Starts the clusters, installs kube-semaphore, and calls an app of c2 from c1. */
async function install({ out, started }: Demo): Promise<Scenarios> {
  out.step(
    'The whole system',
    `Until now, the demo did much of the work of Kubernetes. Now two other clusters start:
    real API servers with the controllers of EndpointSlices, nodes and pods as network namespaces, kube-proxy on every
    node, and CoreDNS. kube-semaphore is installed from deploy/overlays/example: its Deployments and DaemonSets, with
    their accounts, flags and Secrets.`,
  );
  const startMs = performance.now();
  const system = await started.server(() => System.start());
  out.result('two clusters with nodes and DNS', performance.now() - startMs, ': c1 has a node, c2 has two');
  const installMs = performance.now();
  await system.install();
  const detail = ', by kubectl apply and a Secret for each remote';
  out.result('kube-semaphore is installed and ready in both', performance.now() - installMs, detail);
  const scenarios = await Scenarios.start(system);
  const [callerIp = ''] = scenarios.caller.ips;
  const capture = await system.network.node('c1-n1').capture();
  const callMs = performance.now();
  const answer = await scenarios.curl(SECRET);
  out.say(
    `In c2, the app web runs with 3 pods, and a Service for other clusters. In c1, a pod with the address
    ${callerIp} calls it:`,
    [`curl --header 'x-said: ${SECRET}' ${WEB_URL}`, JSON.stringify(answer)],
  );
  out.result(
    'CoreDNS resolved the name, kube-proxy chose a pod, and the tunnel carried the call',
    performance.now() - callMs,
  );
  const wire = inspect(await capture.stop(), SECRET);
  const isSecret = wire.encrypted > 0 && wire.readable === 0;
  if (!isSecret || answer.seen !== callerIp) throw new Error(JSON.stringify({ wire, answer }));
  const nets = await system.netsOf('c1-shop-checkout');
  out.say(
    `Between the nodes, ${wire.encrypted} packets were encrypted, and none was readable. In c2, the caller is
    in a set that policies select:`,
    [`c1-shop-checkout: ${nets?.join(', ')}`],
  );
  return scenarios;
}
