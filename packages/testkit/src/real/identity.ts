import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { Authority } from '@kube-semaphore/embedded-apiserver';
import type { Files } from './components.ts';

const secret = { mode: 0o600 };

/**
 * Writes the certificate of an API server, the one by which kubelets know it, and their keys.
 *
 * @param ips its addresses besides those of the loopback
 */
export async function writeServerCertificates(
  files: Files,
  authority: Authority,
  ips: readonly string[],
): Promise<void> {
  const serving = await authority.issue({
    usage: 'server',
    commonName: 'kube-apiserver',
    dnsNames: ['localhost', 'kubernetes.default.svc'],
    ips: ['127.0.0.1', '::1', ...ips],
  });
  const kubeletClient = await authority.issue({
    usage: 'client',
    commonName: 'kube-apiserver',
    organizations: ['system:masters'],
  });
  await writeFile(files.servingCertificate, serving.certPem);
  await writeFile(files.servingKey, serving.keyPem, secret);
  await writeFile(files.kubeletClientCertificate, kubeletClient.certPem);
  await writeFile(files.kubeletClientKey, kubeletClient.keyPem, secret);
}

/**
 * Writes the secrets that kube-apiserver is started with: its certificates, the key that signs the tokens of
 * ServiceAccounts, and the token of a cluster-admin.
 *
 * @param ips addresses of the server besides those of the loopback
 * @returns the admin's token
 */
export async function writeIdentity(files: Files, authority: Authority, ips: readonly string[]): Promise<string> {
  await writeServerCertificates(files, authority, ips);
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const adminToken = randomBytes(16).toString('hex');
  await Promise.all([
    writeFile(files.ca, authority.caPem),
    // SEC 1: the server takes this form, and not PKCS #8, for the public half as well.
    writeFile(files.serviceAccountKey, privateKey.export({ type: 'sec1', format: 'pem' }), secret),
    // token, user, uid, groups: this group may do everything, without a check of RBAC's rules
    writeFile(files.tokens, `${adminToken},admin,admin,"system:masters"\n`, secret),
  ]);
  return adminToken;
}
