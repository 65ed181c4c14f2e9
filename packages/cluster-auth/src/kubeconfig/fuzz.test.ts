import { fuzz, type FuzzTarget, mutateBytes, mutateJson } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { ClusterAuthError } from '../errors.ts';
import { contextOf } from './context.ts';
import { impersonationHeaders } from './impersonation.ts';
import { mergeKubeconfigs } from './merge.ts';
import { parseKubeconfig } from './schema.ts';

const config = {
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'main',
  contexts: [{ name: 'main', context: { cluster: 'east', user: 'jane' } }],
  clusters: [
    {
      name: 'east',
      cluster: {
        server: 'https://east:6443',
        'certificate-authority-data': 'YQ==',
        'proxy-url': 'http://proxy:3128',
        extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { a: 1 } }],
      },
    },
  ],
  users: [
    { name: 'jane', user: { token: 't', as: 'joe', 'as-groups': ['g'], 'as-user-extra': { scopes: ['a', 'b'] } } },
  ],
};

const yaml = `# ours
apiVersion: v1
kind: Config
current-context: main
contexts:
- name: main
  context: { cluster: east, user: jane }
clusters:
- name: east
  cluster: &c
    server: "https://east:6443"
users:
- name: jane
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: get-token
      args: [a, 'b']
      interactiveMode: Never
`;

function read(text: string): unknown {
  const context = contextOf(mergeKubeconfigs([{ path: 'k', config: parseKubeconfig(text, 'k') }]));
  return [context, impersonationHeaders(context.user, (field) => field)];
}

const common = {
  run: (bytes: Buffer) => read(bytes.toString()),
  isExpected: (error: unknown) => error instanceof ClusterAuthError,
};
const targets: readonly (FuzzTarget & { readonly name: string })[] = [
  { ...common, name: 'a kubeconfig in JSON', seeds: [Buffer.from(JSON.stringify(config))], mutate: mutateJson },
  { ...common, name: 'a kubeconfig in YAML', seeds: [Buffer.from(yaml)], mutate: mutateBytes },
];

it.each(targets)('$name is read or refused, in linear time and a bounded heap', async (target) => {
  expect(await fuzz(target)).toMatchObject({ runs: expect.any(Number) });
});
