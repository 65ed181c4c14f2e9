import { DocumentedPolicies, inspect, missing, Scenarios, System, type Tally, WEB_URL } from '@kube-semaphore/e2e';
import { table } from '../text/table.ts';
import type { Demo, Step } from './start.ts';

/** The content of a call, to search for on the wire. */
const SECRET = 'hello from a pod of c1';

const title = 'The whole system';

/** Two whole clusters, with real programs in place of the demo's own. */
export const wholeSystem: Step = async (demo) => {
  const { out } = demo;
  const lacks = await missing();
  if (lacks.length > 0) return out.step(title, `For this, the following is missing here: ${lacks.join('; ')}`);
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
    'Twenty times a second, the pod in c1 calls the app by its name. In c2, a new version of the app rolls out.',
  );
  reportNoLoss('A rollout', await scenarios.rollOut('v2'));

  out.step(
    'A node is added, lost, and back',
    'c2 gets a third node, and the app a pod on it. The nodes of c1 make that node a peer.',
  );
  const added = await scenarios.addNode();
  reportNoLoss('A node is added', added);
  out.say(`Now the node loses power. By default, Kubernetes needs 40 s or more to notice; here it needs 5 s. Until then,
    some calls still go there, also within the cluster.`);
  const lost = await scenarios.loseNode(added.node);
  const { podIP = '' } = added.pod.status;
  const ledTo = new Set(lost.failed.map(({ to }) => to));
  if (ledTo.size !== 1 || !ledTo.has(podIP)) throw new Error(`calls to ${[...ledTo].join(', ')} failed`);
  report('A node is lost', lost);
  out.say(`By tcpdump, all failed calls went to the pod on the lost node, ${podIP}.`);
  report('The node is back', await scenarios.returnNode(added.node));

  out.step(
    'Nodes are drained',
    'First, the node in c1 on which semaphore-service-mirror leads; then, a node in c2 with pods of the app.',
  );
  reportNoLoss('The node of the leader is drained', await scenarios.drainLeader());
  reportNoLoss('A node of the app is drained', await scenarios.drainApp());

  out.step('Kubelets restart', 'The kubelet of the caller’s node is killed, and one of a node with pods of the app.');
  reportNoLoss('Kubelets restart', await scenarios.restartKubelets());

  out.step(
    'kube-semaphore is upgraded',
    `Each of the three gets another image, in both clusters. Here, wireguard-go carries the tunnels, and
    ends with its pod. WireGuard in the kernel would not end.`,
  );
  reportNoLoss('semaphore-policy is upgraded', await scenarios.upgrade('policy'));
  reportNoLoss('semaphore-service-mirror is upgraded', await scenarios.upgrade('service-mirror'));
  report('semaphore-wireguard is upgraded', await scenarios.upgrade('wireguard'));

  out.step('API servers restart', 'API server and etcd of c1 are killed and start again, then those of c2.');
  reportNoLoss('API servers and etcd restart', await scenarios.restartControlPlanes());

  out.step('Another CA', 'Clients of c2 trust a second CA, its servers get certificates of it, and the first CA goes.');
  reportNoLoss('c2 gets another CA', await scenarios.changeCa());

  out.step('Policies', 'In c1, the policies of docs/policy.md select pods of c2. One of these pods is replaced.');
  const policies = await DocumentedPolicies.start(scenarios.system);
  await policies.apply();
  const { unansweredMs } = await policies.rollOut();
  out.result('From its first call on, until it got an answer from c1', unansweredMs);

  const outage = 'The API server of c2 is down for a minute';
  out.step(outage, 'The API server of c2 is killed, and started again a minute later.');
  reportNoLoss(outage, await scenarios.loseApiserver(60_000));
  out.step('All calls', 'All calls from c1 to c2, by what happened:', table(rows));
};

/** Starts the clusters, installs kube-semaphore, and calls an app of c2 from c1. */
async function install({ out, started }: Demo): Promise<Scenarios> {
  out.step(
    title,
    `Until now, the demo did much of the work of Kubernetes. Now two other clusters start:
    real control planes, and nodes in namespaces, each with a kubelet, containerd and kube-proxy. kube-semaphore is
    installed from deploy/overlays/example, with the images of "npm run images".`,
  );
  const startMs = performance.now();
  const system = await started.server(() => System.start());
  out.result('two clusters with nodes and DNS', performance.now() - startMs, ': each has two nodes');
  const installMs = performance.now();
  await system.install();
  out.result('kube-semaphore is installed and ready in both', performance.now() - installMs);
  const scenarios = await Scenarios.start(system);
  const { ip: callerIp, node } = scenarios.caller;
  const capture = await node.machine.capture();
  const callMs = performance.now();
  const answer = await scenarios.ask(SECRET);
  out.say(
    `In c2, the app web runs with 3 pods, and a Service for other clusters. In c1, a pod with the address
    ${callerIp} calls it:`,
    [`fetch('${WEB_URL}', { headers: { 'x-said': '${SECRET}' } })`, JSON.stringify(answer)],
  );
  out.result('CoreDNS, kube-proxy and the tunnel carried the call to a pod', performance.now() - callMs);
  const wire = inspect(await capture.stop(), SECRET);
  const isSecret = wire.encrypted > 0 && wire.readable === 0;
  if (!isSecret || answer.seen !== callerIp) throw new Error(JSON.stringify({ wire, answer }));
  const nets = await system.c2.netsOf('c1-shop-checkout');
  out.say(
    `Between the nodes, ${wire.encrypted} packets were encrypted, and none was readable. In c2, the caller is
    in a set that policies select:`,
    [`c1-shop-checkout: ${nets?.join(', ')}`],
  );
  return scenarios;
}
