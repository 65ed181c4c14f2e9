import { fewestReady, mainOf, mirrorOf, sliceLines } from '../copies.ts';
import { costOf, mirrorNamespace, type Observation, observe } from '../observe.ts';
import type { Printer } from '../printer.ts';
import type { Step } from './start.ts';

const appears: Step = async ({ out, started, c1, c2, line, checkout }) => {
  out.step(
    'A Service of c2 becomes one of c1',
    `A policy may allow a call, but the caller needs a name, too. In c1,
    semaphore-service-mirror now runs as well: it watches the Services of c2 with the label mirror=true, and their
    EndpointSlices.`,
  );
  const app = started.app({
    program: 'semaphore-service-mirror',
    cluster: c1,
    flags: {
      'svc-prefix': c2.name,
      'label-selector': 'mirror=true',
      'mirror-ns': mirrorNamespace,
      'kube-config': c1.mirror.writer.kubeconfig,
      'target-kube-config': await line.kubeconfig(c2.mirror.reader),
      'listen-address': '127.0.0.1:0',
    },
  });
  out.show(app.command);
  const [readyMs] = await Promise.all([app.ready(), checkout.scale(3)]);
  out.result('semaphore-service-mirror is ready', readyMs);

  out.say(`In c2, ${checkout.app} runs with 3 pods again. Now it gets a Service, and then an EndpointSlice for each
    family of addresses. semaphore-service-mirror, too, writes the first change at once, and collects what follows
    within 200 ms.`);
  const seen = await observe(c1, mirrorOf(checkout), () => checkout.expose('mirror'));
  showService(out, seen, 'all 3 pods of c2 are ready behind it');
  out.say(`It is a Service like any other, with an address of c1. A pod in c1 calls that address, or the name, and
    kube-proxy leads the call to a pod of c2, with nothing in between. Facts that only matter in c2, such as the names
    of its nodes, are left out.`);
};

/** When a Service came and when it was complete, and what it looks like. */
export function showService(out: Printer, { first, last }: Observation, complete: string): void {
  const { metadata, ...service } = mainOf(last.copy);
  const { name, namespace, annotations, labels } = metadata;
  out.result(`c1 has a Service ${name}`, first.ms);
  out.result(complete, last.ms);
  const { clusterIPs, ports } = service['spec'] as { readonly clusterIPs: object; readonly ports: object };
  out.showYaml({ kind: 'Service', metadata: { name, namespace, annotations, labels }, spec: { clusterIPs, ports } });
  out.show(sliceLines(last.copy));
}

const grows: Step = async ({ out, c1, checkout }) => {
  out.step(
    'It grows to 20 pods, and its mirror with it',
    `Another 17 pods start in c2. One EndpointSlice of c2 is one
    EndpointSlice of c1: a change of one endpoint is one write, however many Services and pods there are.`,
  );
  const seen = await observe(c1, mirrorOf(checkout), () => checkout.scale(20));
  const detail = `: never fewer than ${fewestReady(seen.versions)}, ${costOf(seen, 'creating the pods')}`;
  out.result('all 20 pods are ready behind the mirror', seen.rightMs, detail);
};

const rollsOut: Step = async ({ out, c1, checkout }) => {
  out.step(
    'A rolling update without an empty moment',
    `A new version rolls out in c2, 5 pods at a time. The demo
    watches the mirror’s EndpointSlices as kube-proxy does, and counts the ready endpoints after each change. With
    none, calls would be refused.`,
  );
  const seen = await observe(c1, mirrorOf(checkout), () => checkout.rollOut());
  const detail = `: never fewer than ${fewestReady(seen.versions)}, ${costOf(seen, 'the update')}`;
  out.result('only the 20 new pods are ready behind the mirror', seen.rightMs, detail);
};

const isDeleted: Step = async ({ out, c1, checkout }) => {
  out.step(
    'The Service is deleted, and its mirror with it',
    `In c2, somebody deletes the Service of ${checkout.app}.
    Its pods go on.`,
  );
  const { rightMs } = await observe(c1, mirrorOf(checkout), () => checkout.withdraw());
  out.result('c1 has neither the mirror nor EndpointSlices of it any more', rightMs);
};

/** What happens to a Service, and to its mirror in the other cluster. */
export const mirrors: readonly Step[] = [appears, grows, rollsOut, isDeleted];
