import { writeFile } from 'node:fs/promises';
import type { Certificate } from './certificates.ts';

/** What a kubeconfig says of the CA: its text, or the path of its file. */
type Ca = { readonly caPem: string } | { readonly caFile: string };

/** The credentials of a kubeconfig's user. */
export type Credentials =
  | { readonly token: string }
  | { readonly tokenFile: string }
  | { readonly certificate: Certificate };

/** The contents of a kubeconfig with one cluster, one user and one context. */
export type KubeconfigOptions = Ca & {
  /** Name of the cluster, of the user and of the context. */
  readonly name: string;
  readonly url: string;
  readonly credentials: Credentials;
};

/** The text of a kubeconfig that needs no other file, except `tokenFile` and `caFile`. It is JSON, and so it is YAML. */
export function kubeconfig({ name, url, credentials, ...ca }: KubeconfigOptions): string {
  const authority =
    'caFile' in ca ? { 'certificate-authority': ca.caFile } : { 'certificate-authority-data': base64(ca.caPem) };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, ...authority } }],
    users: [{ name, user: user(credentials) }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

/** Writes a kubeconfig with mode 0600, and returns `file`. */
export async function writeKubeconfig(file: string, options: KubeconfigOptions): Promise<string> {
  await writeFile(file, kubeconfig(options), { mode: 0o600 });
  return file;
}

function user(credentials: Credentials): Record<string, string> {
  if ('certificate' in credentials) {
    const { certPem, keyPem } = credentials.certificate;
    return { 'client-certificate-data': base64(certPem), 'client-key-data': base64(keyPem) };
  }
  return { ...credentials };
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
