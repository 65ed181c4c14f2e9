import type { Place } from '@kube-semaphore/testnet';
import type { App } from './stage/app.ts';
import type { Mesh } from './stage/mesh.ts';
import { mirrorNamespace } from './stage/mirror-watch.ts';
import { observe, observeGlobal, observeMirror } from './stage/observe.ts';
import { exposeInTurn, globalSubject } from './stage/shops.ts';
import type { Stage } from './stage/stage.ts';
import { memberLabel } from './stage/workload.ts';
import { formatDuration } from './text/duration.ts';
import { table } from './text/table.ts';

/**
 * Sums up what was seen.
 *
 * @param totalMs since the demo was started
 */
export function sumUp({ tell }: Pick<Stage, 'tell'>, totalMs: number): void {
  tell.heading('What you saw');
  tell.say(
    'Each program watched other clusters and kept what it writes in its own right, whatever happened on either side. The ' +
      'time of a change begins with its first request:',
  );
  const rows = tell.milestones.map(({ what, ms }) => [what, formatDuration(ms)]);
  tell.show(table([...rows, ['the whole demo', formatDuration(totalMs)]], { lastColumn: 'right' }));
}

/** What to do next, after a demo that has cleaned up behind itself. */
export function suggestNext({ tell }: Pick<Stage, 'tell'>): void {
  tell.say('Everything is stopped and removed. What to try next:');
  tell.show([
    'npm run demo -- --keep   leaves it running, with commands to look around and to break things',
    'npm run demo -- --real   the same on real API servers ("npm run binaries" builds them once), and then two whole clusters',
  ]);
}

/** Brings back something to look at, and prints how to. */
export async function invite(stage: Stage): Promise<void> {
  const { backstage, c1, c2, checkout, mesh, shops, signal, tell } = stage;
  // Waits for the mirror, the global Service and the set: whoever pastes the commands at once is to find them.
  const subject = { site: c1, workload: checkout, signal };
  await observeMirror(subject, () => checkout.expose('mirror'));
  await observeGlobal(globalSubject(stage), () => exposeInTurn(shops));
  await observe(subject, () => checkout.scale(3));
  if (mesh.isBuilt) await bringBack(mesh);
  tell.heading('Your turn');
  tell.say(
    `Both clusters go on until you press Ctrl-C. ${checkout.app} is there with 3 pods and a Service, and ${shops.c1.app} with a global ` +
      'one. Paste this into another terminal, and c1 and c2 are kubectl for the two clusters:',
  );
  tell.show(
    [c1, c2].map(({ name, server }) => `${name}() { ${kubectl(server)} --kubeconfig ${server.adminKubeconfig} "$@"; }`),
  );
  const apps = [c1, c2].flatMap(({ name }) => backstage.running(name));
  for (const { aim, commands } of suggestions(stage, apps)) {
    tell.say(aim);
    tell.show(commands);
  }
}

/** Undoes the last scene: the Node that left is there again, and the tunnel with it. */
async function bringBack(mesh: Mesh): Promise<void> {
  const [n1, n2] = mesh.nodes;
  await mesh.restore(n2);
  await mesh.peers(n1, 1);
}

type Suggestion = { readonly aim: string; readonly commands: readonly string[] };

function suggestions({ checkout, ledger, mesh, shops }: Stage, apps: readonly App[]): Suggestion[] {
  const pod = `${checkout.pods[0]?.object.metadata.name} -n ${checkout.namespace}`;
  return [
    {
      aim: 'Look at the sets, and at the pods behind them:',
      commands: ['c1 get globalnetworksets -o yaml', `c2 get pods -n ${checkout.namespace} -o wide --show-labels`],
    },
    {
      aim: 'Look at the mirror, with the addresses behind it, and at the Service that it shows:',
      commands: [
        `c1 get services,endpointslices -n ${mirrorNamespace} -o yaml`,
        `c2 get services,endpointslices -n ${checkout.namespace} -o yaml`,
      ],
    },
    {
      aim: 'Delete the mirror, and look again:',
      commands: [
        `c1 delete services ${checkout.mirrorName} -n ${mirrorNamespace}`,
        `c1 get services,endpointslices -n ${mirrorNamespace} -o name`,
      ],
    },
    {
      aim: 'Take c2 out of the global Service, and look what is left of it:',
      commands: [
        `c2 delete services ${shops.c2.app} -n ${shops.c2.namespace}`,
        `c1 get services ${shops.c1.globalName} -n ${mirrorNamespace} -o yaml`,
        `c1 get endpointslices -n ${mirrorNamespace} -o name`,
      ],
    },
    {
      aim: 'Delete a set, and look again:',
      commands: [`c1 delete globalnetworksets ${checkout.setName}`, 'c1 get globalnetworksets'],
    },
    {
      aim: 'Make a pod a member of something else, and find a second set:',
      commands: [`c2 label pods ${pod} --overwrite ${memberLabel}=cart`, 'c1 get globalnetworksets -o yaml'],
    },
    {
      aim: 'The other direction: delete the pods, and the set goes with them:',
      commands: [`c1 delete pods -n ${ledger.namespace} --all --now`, 'c2 get globalnetworksets'],
    },
    ...(mesh.isBuilt ? throughTheTunnel(mesh) : []),
    {
      aim: 'Read what the processes log, and count:',
      commands: apps.flatMap(({ log, metricsCommand }) => [`tail ${log}`, metricsCommand]),
    },
  ];
}

function throughTheTunnel(mesh: Mesh): Suggestion[] {
  const [n1, n2] = mesh.nodes;
  const commandIn = (place: Place, file: string, ...args: readonly string[]) => place.commandLine(file, args).flat().join(' ');
  return [
    {
      aim: `Send packets from the pod on ${n1.machine.name} to that on ${n2.machine.name}, and look at the tunnel that they take:`,
      commands: [commandIn(n1.pod, 'ping', '-c', '3', n2.site.node.podIps.v4), commandIn(n1.machine, 'wg', 'show'), `c1 get nodes ${n1.machine.name} -o yaml`],
    },
  ];
}

/** A real cluster brings a kubectl of its own version. */
function kubectl(server: object): string {
  return 'kubectl' in server ? String(server.kubectl) : 'kubectl';
}
