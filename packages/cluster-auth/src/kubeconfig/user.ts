import { basic, type Credentials, openToken, tokenCredentials } from '../credentials/credentials.ts';
import type { Dependencies } from '../dependencies.ts';
import { ClusterAuthError } from '../errors.ts';
import { openKeyPair, withKeyPair } from '../credentials/key-pair.ts';
import { execCredentials, type ExecPlugin } from '../plugins/exec-plugin.ts';
import { oidcCredentials } from '../plugins/oidc-provider.ts';
import { fixed, type Rotating } from '../credentials/rotating.ts';
import { openCa } from '../trust/certificate-authority.ts';
import type { KubeconfigContext } from './context.ts';
import { pemSource, type Place } from './place.ts';
import type { KubeconfigExec } from './schema.ts';

/** The extension of a cluster for its exec plugin. */
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

/**
 * The credentials of a kubeconfig's user: a header, and a client certificate if the user has one.
 *
 * @param ca of the cluster, for plugins; undefined if the cluster has none
 * @throws {ClusterAuthError} with the name of the field or the file
 */
export async function openUser(
  context: KubeconfigContext,
  place: Place,
  ca: Rotating<string | undefined> | undefined,
  deps: Dependencies,
): Promise<Rotating<Credentials>> {
  const { user } = context;
  const header = await openHeader(context, place, ca, deps);
  const certificate = { file: user['client-certificate'], data: user['client-certificate-data'] };
  const cert = pemSource(place.where('client-certificate'), certificate, place);
  const key = pemSource(place.where('client-key'), { file: user['client-key'], data: user['client-key-data'] }, place);
  return cert === undefined || key === undefined ? header : withKeyPair(header, await openKeyPair(cert, key, deps));
}

/**
 * The precedence is that of client-go: a token's file, a token, a password, a client certificate, a plugin. An auth-provider
 * is used beside a client certificate.
 */
async function openHeader(
  context: KubeconfigContext,
  place: Place,
  ca: Rotating<string | undefined> | undefined,
  deps: Dependencies,
): Promise<Rotating<Credentials>> {
  const { user } = context;
  const { tokenFile, token, username, password, exec, 'auth-provider': provider } = user;
  const hasCertificate = (user['client-certificate'] ?? user['client-certificate-data']) !== undefined;
  if (tokenFile !== undefined) return openTokenFile(place.file(tokenFile), token, place, deps);
  if (token !== undefined) return fixed(tokenCredentials(token, place.where('token')));
  if (username !== undefined) return fixed({ authorization: basic(username, password ?? '') });
  if (exec != null && !hasCertificate) return execCredentials(pluginOf(exec, context, place, ca), deps);
  if (provider != null) return openOidc(provider.config, place, deps);
  return fixed({});
}

/** @param token used if the file has none now */
async function openTokenFile(
  path: string,
  token: string | undefined,
  place: Place,
  deps: Dependencies,
): Promise<Rotating<Credentials>> {
  try {
    return await openToken(path, deps);
  } catch (error) {
    if (token === undefined) throw error;
    deps.log.warn({ file: path, error }, 'tokenFile can not be used; the token beside it is used');
    return fixed(tokenCredentials(token, place.where('token')));
  }
}

async function openOidc(
  config: Readonly<Record<string, string>>,
  place: Place,
  deps: Dependencies,
): Promise<Rotating<Credentials>> {
  const where = place.where('auth-provider oidc');
  const field = (name: string) => config[name] || undefined;
  const issuer = URL.parse(config['idp-issuer-url'] ?? '');
  const id = field('client-id');
  if (issuer?.protocol !== 'https:' || id === undefined) {
    throw new ClusterAuthError(
      'CLUSTER_KUBECONFIG',
      `${where} must have a client-id, and an https: URL as idp-issuer-url`,
    );
  }
  const authority = { file: field('idp-certificate-authority'), data: field('idp-certificate-authority-data') };
  const source = pemSource(`${where}: idp-certificate-authority`, authority, place);
  const ca = source && (await openCa(source, deps));
  const tokens = { idToken: field('id-token'), refreshToken: field('refresh-token') };
  return oidcCredentials(tokens, { issuer, id, secret: field('client-secret'), ca }, where, deps);
}

function pluginOf(
  exec: KubeconfigExec,
  { cluster }: KubeconfigContext,
  place: Place,
  ca: Rotating<string | undefined> | undefined,
): ExecPlugin {
  const { command, args, env, apiVersion, installHint, provideClusterInfo } = exec;
  const clusterInfo = async () => {
    const pem = await ca?.current();
    return {
      server: cluster.server,
      ...(cluster['tls-server-name'] && { 'tls-server-name': cluster['tls-server-name'] }),
      ...(cluster['insecure-skip-tls-verify'] && { 'insecure-skip-tls-verify': true }),
      ...(cluster['proxy-url'] && { 'proxy-url': cluster['proxy-url'] }),
      ...(pem && { 'certificate-authority-data': Buffer.from(pem).toString('base64') }),
      config: cluster.extensions.find(({ name }) => name === EXEC_EXTENSION)?.extension,
    };
  };
  return {
    // A bare name is searched on the PATH; anything else is a file.
    command: command.includes('/') ? place.file(command) : command,
    args,
    env,
    apiVersion,
    installHint,
    clusterInfo: provideClusterInfo ? clusterInfo : undefined,
    where: place.where(`exec ${command}`),
  };
}
