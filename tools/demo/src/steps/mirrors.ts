import { fewestReady, mainOf, mirrorOf, sliceLines } from '../copies.ts';
import { costOf, mirrorNamespace, type Observation, observe } from '../observe.ts';
import type { Printer } from '../printer.ts';
import type { Step } from './start.ts';

const appears: Step = async ({ out, started, c1, c2, line, checkout }) => {
  out.step(
    'A Service of c2 is copied to c1',
    `A policy may allow a call, but the caller needs a name, too. In c1,
    semaphore-service-mirror starts. It watches the Services of c2 with the label mirror=true, and their
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

  out.say(`In c2, ${checkout.app} runs with 3 pods again. Now it gets a Service, then an EndpointSlice for each address
    family. semaphore-service-mirror, too, writes the first changes at once, and collects the next ones.`);
  const seen = await observe(c1, mirrorOf(checkout), () => checkout.expose('mirror'));
  showService(out, seen, 'all 3 pods of c2 are ready behind it');
  out.say(`It is a normal Service, with an address of c1. A pod in c1 calls that address, or the name, and kube-proxy
    sends the call directly to a pod of c2. Data that is only useful in c2, such as names of nodes, is not copied.`);
};

/** Prints when a Service was created and when it was complete, and the Service. */
export function showService(out: Printer, { first, last }: Observation, complete: string): void {
  const { metadata, ...service } = mainOf(last.copy);
  const { name, namespace, annotations, labels } = metadata;
  out.result(`c1 has a Service ${name}`, first.ms);
  out.result(complete, last.ms);
  const { clusterIPs, ports } = service['spec'] as { readonly clusterIPs: object; readonly ports: object };
  out.showYaml({ kind: 'Service', metadata: { name, namespace, annotations, labels }, spec: { clusterIPs, ports } });
  out.show(sliceLines(last.copy));
}

const rollsOut: Step = async ({ out, c1, checkout }) => {
  out.step(
    'A rolling update, with ready endpoints at any time',
    `A new version rolls out in c2: 3 new pods run before the
    old ones are deleted. The demo watches the mirror’s EndpointSlices as kube-proxy does, and counts the ready
    endpoints after each change. Without one, calls would be refused.`,
  );
  const seen = await observe(c1, mirrorOf(checkout), () => checkout.rollOut());
  const detail = `: never fewer than ${fewestReady(seen.versions)}, ${costOf(seen, 'the update')}`;
  out.result('only the 3 new pods are ready behind the mirror', seen.rightMs, detail);
};

const isDeleted: Step = async ({ out, c1, checkout }) => {
  out.step(
    'The Service is deleted, and so is its mirror',
    `In c2, someone deletes the Service of ${checkout.app}.
    Its pods continue to run.`,
  );
  const { rightMs } = await observe(c1, mirrorOf(checkout), () => checkout.withdraw());
  out.result('c1 has neither the mirror nor its EndpointSlices', rightMs);
};

/** What happens to a Service, and to its mirror in the other cluster. */
export const mirrors: readonly Step[] = [appears, rollsOut, isDeleted];
