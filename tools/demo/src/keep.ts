import { metricsCommand } from './apps.ts';
import { globalOf, mirrorOf } from './copies.ts';
import { hasPeers, joinCluster, type Nodes } from './nodes.ts';
import { mirrorNamespace, observe } from './observe.ts';
import { exposeShops } from './steps/globals.ts';
import type { Demo } from './steps/start.ts';
import { memberLabel } from './workload.ts';

/** Creates objects to look at, prints the commands, and never returns. */
export async function keepRunning(demo: Demo): Promise<never> {
  const { out, started, c1, c2, checkout, nodes, shops } = demo;
  // The mirror and the global Service must exist before someone pastes the commands.
  await observe(c1, mirrorOf(checkout), () => checkout.expose('mirror'));
  await observe(c1, globalOf(shops), () => exposeShops(demo));
  if (nodes !== undefined) {
    await joinCluster(nodes[1]);
    await hasPeers(nodes[0], 1);
  }
  // A real cluster has a kubectl of its own version.
  const kubectl = (server: object) => ('kubectl' in server ? String(server.kubectl) : 'kubectl');
  const shortcut = ({ name, server }: Demo['c1']) =>
    `${name}() { ${kubectl(server)} --kubeconfig ${server.adminKubeconfig} "$@"; }`;
  out.heading('Your turn');
  out.say(
    `Both clusters run until you press Ctrl-C. ${checkout.app} has 3 pods and a Service, and ${shops[0].app} has
    a global Service. Paste this into another terminal. Then c1 and c2 are kubectl for the two clusters:`,
    [c1, c2].map(shortcut),
  );
  const apps = started.apps.filter(({ isRunning }) => isRunning());
  const commands = await Promise.all(apps.map(async (app) => [`tail ${app.logFile}`, await metricsCommand(app)]));
  const tunnel = nodes === undefined ? '' : throughTheTunnel(nodes);
  const suggestions = `${lookAndBreak(demo)}${tunnel}
Read the logs and the metrics of the processes:
  ${commands.flat().join('\n  ')}`;
  for (const suggestion of suggestions.trim().split(/\n(?! )/)) {
    const [aim = '', ...lines] = suggestion.split(/\n +/);
    out.say(aim, lines);
  }
  return new Promise(() => {});
}

/** Suggestions, with their commands indented. */
const lookAndBreak = ({ checkout, shops: [shop, theirShop] }: Demo): string => `
Look at the sets, and at the pods behind them:
  c1 get globalnetworksets -o yaml
  c2 get pods -n ${checkout.namespace} -o wide --show-labels
Look at the mirror, with the addresses behind it, and at its Service in c2:
  c1 get services,endpointslices -n ${mirrorNamespace} -o yaml
  c2 get services,endpointslices -n ${checkout.namespace} -o yaml
Delete the mirror, and look again:
  c1 delete services ${checkout.mirrorName} -n ${mirrorNamespace}
  c1 get services,endpointslices -n ${mirrorNamespace} -o name
Remove c2 from the global Service, and look at the rest of it:
  c2 delete services ${theirShop.app} -n ${theirShop.namespace}
  c1 get services ${shop.globalName} -n ${mirrorNamespace} -o yaml
Delete a set, and look again:
  c1 delete globalnetworksets ${checkout.setName}
  c1 get globalnetworksets
Make a pod a member of something else, and find a second set:
  c2 label pods ${checkout.pods[0]?.name} -n ${checkout.namespace} --overwrite ${memberLabel}=cart
  c1 get globalnetworksets -o yaml`;

const throughTheTunnel = ([n1, n2]: Nodes): string => `
Send packets from the pod on n1 to the pod on n2, and look at their tunnel:
  ${n1.pod.commandLine('ping', ['-c', '3', n2.cluster.node.podIps[0]]).flat().join(' ')}
  ${n1.machine.commandLine('wg', ['show']).flat().join(' ')}
  c1 get nodes n1 -o yaml`;
