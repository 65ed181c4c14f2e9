import { bash, imageName } from '@kube-semaphore/testkit';
import { startNetwork } from '@kube-semaphore/testnet';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { builtImage, NodeCluster } from '../../src/index.ts';
import { images } from '../busybox.ts';

const apps = ['policy', 'service-mirror', 'wireguard'] as const;

let nodes: NodeCluster;
let stop: () => Promise<void>;

beforeAll(async () => {
  const network = await startNetwork();
  stop = () => network.stop();
  nodes = await NodeCluster.start({
    name: 'c1',
    network,
    clusterCidr: '10.2.0.0/16',
    serviceCidr: '10.96.0.0/16',
    images: [...images(), ...apps.map((app) => builtImage(imageName(app)))],
  });
  stop = async () => {
    await nodes.stop();
    await network.stop();
  };
  await nodes.addNodes(1);
}, 180_000);
afterAll(() => stop());

it.each(apps)('runs the image of %s by the name that its manifests have', async (app) => {
  const overrides = {
    spec: {
      containers: [
        {
          name: app,
          image: imageName(app),
          args: ['-help'],
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
            seccompProfile: { type: 'RuntimeDefault' },
          },
        },
      ],
    },
  };
  const { stdout } = await bash(
    `kubectl run ${app} --image=${imageName(app)} --restart=Never --overrides='${JSON.stringify(overrides)}'
    kubectl wait pod/${app} --for=jsonpath='{.status.phase}'=Succeeded --timeout=60s
    kubectl logs ${app}`,
    nodes.cluster,
  );
  expect(stdout).toContain(`Usage: semaphore-${app} `);
});
