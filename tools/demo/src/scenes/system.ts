import { inspect, Scenarios, type Tally, WEB_URL } from '@kube-semaphore/e2e';
import { findBinaries } from '@kube-semaphore/testkit';
import type { Narrator } from '../narrator.ts';
import type { Scene } from '../stage/stage.ts';
import { table } from '../text/table.ts';

/** What a call says, to be looked for on the wire. */
const SECRET = 'hello from a pod of c1';

/** How long the API server of c2 is down. */
const OUTAGE_MS = 60_000;

/** The scenes have one system between them, and a book of what became of the calls. */
type Play = { scenarios?: Scenarios; readonly rows: string[][] };

const scenariosOf = ({ scenarios }: Play): Scenarios => {
  if (scenarios === undefined) throw new Error('there is no system yet');
  return scenarios;
};

const installed = (play: Play): Scene => ({
  title: 'The whole system',
  async play({ backstage, tell }) {
    tell.say(
      'Until here the demo stood in for much of Kubernetes. Now two other clusters start in which nothing is played: real API servers with ' +
        'the controllers of EndpointSlices, nodes and pods as network namespaces, kube-proxy on every node, CoreDNS behind its Service, and ' +
        'kube-semaphore as deploy/overlays/example installs it: its Deployments and DaemonSets, with their accounts, flags and Secrets.',
    );
    const startMs = performance.now();
    const system = await backstage.startSystem();
    tell.milestone('two clusters with nodes and DNS', performance.now() - startMs, ': c1 has a node, c2 has two');
    const applyMs = performance.now();
    await system.install();
    tell.milestone('kube-semaphore is installed and ready in both', performance.now() - applyMs, ', by kubectl apply and a Secret for each remote');
    play.scenarios = await Scenarios.start(system);
    const { caller } = play.scenarios;
    tell.say(`In c2, the app web runs with 3 pods, and a Service that c1 may know. In c1, a pod with the address ${caller.ips[0]} calls it:`);
    const capture = await system.network.node('c1-n1').capture();
    const callMs = performance.now();
    const answer = await play.scenarios.curl(SECRET);
    tell.show([`curl --header 'x-said: ${SECRET}' ${WEB_URL}`, JSON.stringify(answer)]);
    tell.milestone('CoreDNS knew the name, kube-proxy chose a pod, and the tunnel led there', performance.now() - callMs);
    const wire = inspect(await capture.stop(), SECRET);
    if (wire.encrypted === 0 || wire.readable > 0 || answer.seen !== caller.ips[0]) throw new Error(`not what crosses a tunnel: ${JSON.stringify({ wire, answer })}`);
    tell.say(`Between the nodes crossed ${wire.encrypted} packets inside WireGuard's, and nothing that could be read. In c2, the caller is in a set that policies select:`);
    tell.show([`c1-shop-checkout: ${(await system.netsOf('c1-shop-checkout'))?.join(', ')}`]);
  },
});

/** A scenario in which every call must be answered. */
const withoutLoss = (play: Play, title: string, story: string, scenario: (scenarios: Scenarios) => Promise<Tally>): Scene => ({
  title,
  async play({ tell }) {
    tell.say(story);
    const tally = await scenario(scenariosOf(play));
    if (tally.failed.length > 0) throw new Error(`${tally.failed.length} calls failed: ${JSON.stringify(tally.failed.slice(0, 3))}`);
    report(play, tell, title, tally);
  },
});

const comesAndGoes = (play: Play): Scene => ({
  title: 'A node comes, and is lost',
  async play({ tell }) {
    const scenarios = scenariosOf(play);
    tell.say('c2 gets a third node, and the app a pod on it. Its agent announces it, and the nodes of c1 let it in.');
    const added = await scenarios.addNode();
    report(play, tell, 'A node is added', added);
    tell.say(
      'Now somebody pulls its plugs. Kubernetes takes 40 s or more to notice, and until then leads a part of all calls there, within the cluster as ' +
        'well; the demo tells it as soon as a call has failed.',
    );
    const lost = await scenarios.loseNode(added);
    if (lost.ledTo.size !== 1 || !lost.ledTo.has(added.pod.ips[0])) throw new Error(`calls failed that were led to ${[...lost.ledTo].join(', ')}`);
    report(play, tell, 'A node is lost', lost);
    tell.say(`Each call that failed had been led to the pod on the lost node, ${added.pod.ips[0]}: tcpdump saw them on their way.`);
  },
});

const summary = (play: Play): Scene => ({
  title: 'What became of the calls',
  async play({ tell }) {
    tell.show(table([['', 'seconds', 'calls', 'failed'], ...play.rows]));
    await Promise.resolve();
  },
});

function report({ rows }: Play, tell: Narrator, title: string, { calls, failed, ms }: Tally): void {
  rows.push([title, (ms / 1_000).toFixed(1), String(calls.length), String(failed.length)]);
  tell.milestone(`${title}: of ${calls.length} calls, ${failed.length === 0 ? 'none' : failed.length} failed`, ms);
}

/** Two clusters in which nothing stands in for anything else; with real API servers only. */
export function wholeSystem(): readonly Scene[] {
  const binaries = findBinaries(['kube-controller-manager', 'kube-proxy', 'coredns', 'wireguard-go', 'kubectl']);
  const title = 'The whole system';
  if (!binaries.ok) return [{ title, play: ({ tell }) => Promise.resolve(tell.say(`For that it lacks here: ${binaries.reason}`)) }];
  const play: Play = { rows: [] };
  return [
    installed(play),
    withoutLoss(play, 'A rollout', 'From now on the pod in c1 calls the app twenty times a second, each time by its name and a new connection. In c2, a new version of it rolls out.', (scenarios) => scenarios.rollOut('v2')),
    comesAndGoes(play),
    withoutLoss(play, 'The API server of c2 is down for a minute', 'The API server of c2 is killed, and started again a minute later.', (scenarios) => scenarios.loseApiserver(OUTAGE_MS)),
    summary(play),
  ];
}
