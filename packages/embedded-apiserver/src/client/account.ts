import { join } from 'node:path';
import { writeKubeconfig } from './kubeconfig.ts';
import { replaceFile } from './replace-file.ts';
import type { PolicyRule, TestAccount, TestClient } from '../test-cluster.ts';

/** The cluster of an account, and the folder for its files. */
export type AccountOptions = {
  readonly clusterName: string;
  readonly url: string;
  readonly caPem: string;
  readonly dir: string;
  readonly admin: TestClient;
};

const rbac = '/apis/rbac.authorization.k8s.io/v1';

/**
 * `TestCluster.account` in terms of the API: a ServiceAccount, a ClusterRole and its binding, all called `name`, and
 * a token from TokenRequest.
 */
export async function createAccount(
  options: AccountOptions,
  name: string,
  rules: readonly PolicyRule[],
): Promise<TestAccount> {
  const { admin } = options;
  const accounts = '/api/v1/namespaces/kube-system/serviceaccounts';
  const metadata = { name };
  await admin.create(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  await admin.create(`${rbac}/clusterroles`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata,
    rules,
  });
  await admin.create(`${rbac}/clusterrolebindings`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', namespace: 'kube-system', name }],
  });
  return issueAccount(options, { namespace: 'kube-system', name });
}

/** Longer than any test runs. */
const VALID_SECONDS = 24 * 3_600;

/** A token of an existing ServiceAccount, and its files. @param pod the Pod of its namespace that the token is bound to, if any */
export async function issueAccount(
  { clusterName, url, caPem, dir, admin }: AccountOptions,
  { namespace, name, pod }: { readonly namespace: string; readonly name: string; readonly pod?: string },
): Promise<TestAccount> {
  const bound = pod === undefined ? {} : { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod } };
  const { status } = await admin.create(`/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: VALID_SECONDS, ...bound },
  });
  const { token } = status as { token: string };

  const tokenFile = join(dir, `${name}.token`);
  await replaceFile(tokenFile, token, 0o600);
  const file = join(dir, `${name}.kubeconfig`);
  const kubeconfig = await writeKubeconfig(file, { name: clusterName, url, caPem, credentials: { token } });
  return { token, tokenFile, kubeconfig };
}
