import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fewestReady, globalOf, sliceLines } from '../copies.ts';
import { mirrorNamespace, observe, versionsSince } from '../observe.ts';
import { showService } from './mirrors.ts';
import type { Demo, Step } from './start.ts';

/** Time without contact until endpoints of c2 are not ready. Use minutes in production. */
const STALE_AFTER = '500ms';

/** Gives the app its Service in each cluster, the one in c1 first. */
export async function exposeShops({ shops }: Demo): Promise<void> {
  for (const shop of shops) await shop.expose('global');
}

const merges: Step = async (demo) => {
  const { out, started, c1, c2, line, shops } = demo;
  const [{ app, namespace }] = shops;
  const kubeConfigPath = await line.kubeconfig(c2.mirror.reader);
  const file = {
    global: {
      mirrorSvcLabelSelector: 'mirror=true',
      globalSvcLabelSelector: 'global=true',
      globalSvcHints: 'labelled',
      mirrorNamespace,
      serviceSync: true,
      endpointSliceSync: true,
    },
    localCluster: { name: c1.name, kubeConfigPath: c1.mirror.writer.kubeconfig },
    remoteClusters: [{ name: c2.name, servicePrefix: c2.name, kubeConfigPath, staleAfter: STALE_AFTER }],
  };
  out.step(
    'One Service for both clusters',
    `The app ${app} runs in c1 and in c2, with 2 pods in each. Its Services have
    the same name and namespace, and the label global=true. semaphore-service-mirror merges them into one global
    Service. This needs a config file, which may name many clusters, and a restart:`,
    JSON.stringify(file, null, 2).split('\n'),
  );
  const former = started.running('semaphore-service-mirror', c1);
  const config = join(c1.server.dir, 'service-mirror.json');
  await Promise.all([former.stop(), writeFile(config, JSON.stringify(file))]);
  const mirror = started.app({ ...former.options, flags: { config, 'listen-address': '127.0.0.1:0' } });
  out.show(mirror.command);
  const [readyMs] = await Promise.all([mirror.ready(), ...shops.map((shop) => shop.scale(2))]);
  out.result('semaphore-service-mirror is ready again', readyMs);

  out.say(`${app} gets its Service in c1, then in c2. If they differ, the older one decides.`);
  const seen = await observe(c1, globalOf(shops), () => exposeShops(demo));
  showService(out, seen, 'the pods of both clusters are ready behind it');
  out.say(`Look at the addresses: a call reaches a pod of c1 or of c2. With the label for local-first routing, the
    endpoints get hints, and calls stay in c1 while a pod there is ready. With the CoreDNS rule from
    docs/service-mirror.md, its name in every cluster is ${app}.${namespace}.svc.cluster.global.`);
};

const losesOne: Step = async ({ out, c1, c2, line, shops }) => {
  out.step(
    'One cluster is down',
    `c1 no longer reaches the API server of c2. The pods of c2 may still work, so
    nothing changes at first. But if they are down, half of the calls fail. For this case, there is staleAfter:
    ${STALE_AFTER} after the last contact, the endpoints of c2 are not ready, if another cluster has ready ones.`,
  );
  const startMs = performance.now();
  const lost = await observe(c1, globalOf(shops, [c2.name]), () => line.set({ kind: 'refuse' }));
  out.result('only the pods of c1 are ready behind it', lost.rightMs);
  out.show(sliceLines(lost.last.copy));

  out.say('The API server of c2 recovers. Its pods are ready again after the next attempt.');
  const { rightMs } = await observe(c1, globalOf(shops), () => line.clear());
  const fewest = fewestReady(versionsSince(c1.history, globalOf(shops).name, startMs));
  const detail = `: never fewer than ${fewest} pods, while a whole cluster was down and recovered`;
  out.result('the pods of both clusters are ready behind it again', rightMs, detail);
};

const bothLeave: Step = async ({ out, c1, shops }) => {
  const [inC1, inC2] = shops;
  out.step(
    'The clusters leave the global Service',
    `In c2, someone deletes the Service of ${inC2.app}. c1 removes
    the endpoints of c2, and nothing else. Then someone deletes the last one, in c1.`,
  );
  const left = await observe(c1, globalOf(shops), () => inC2.withdraw());
  const detail = `: the Service stays, with ${fewestReady(left.versions)} pods of c1`;
  out.result('c1 has no EndpointSlices of c2', left.rightMs, detail);
  const { rightMs } = await observe(c1, globalOf(shops), () => inC1.withdraw());
  out.result('c1 has neither the global Service nor its EndpointSlices', rightMs);
};

/** A Service of two clusters: one cluster is down and recovers, then both leave. */
export const globals: readonly Step[] = [merges, losesOne, bothLeave];
