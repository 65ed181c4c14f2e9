import { isDeepStrictEqual } from 'node:util';
import type { Dependencies, Logger } from '../dependencies.ts';
import { parseProxy, parseServer } from '../transport/endpoint.ts';
import { ClusterAuthError } from '../errors.ts';
import type { Access, Route } from '../live-connection.ts';
import { openFiles, type RotatingFiles } from '../credentials/rotating-files.ts';
import { openCa } from '../trust/certificate-authority.ts';
import { openSystemRoots } from '../trust/system-roots.ts';
import { fixed } from '../credentials/rotating.ts';
import { octal, writableByAnyone, writersOf } from '../credentials/writers.ts';
import { contextOf, type KubeconfigContext } from './context.ts';
import { impersonationHeaders } from './impersonation.ts';
import { mergeKubeconfigs } from './merge.ts';
import { pemSource, placeOf } from './place.ts';
import { parseKubeconfig } from './schema.ts';
import { openUser } from './user.ts';

/**
 * Opens the current context of a kubeconfig, which is read again when it changes, as are the files that it names. Another
 * part of it may change, as with contexts of others, and nothing is opened again.
 *
 * @param routeOf called for what a changed context says, with the route to replace; throws a ClusterAuthError to refuse it
 * @throws {ClusterAuthError} with the name of the file and the field
 */
export async function openKubeconfig(
  path: string,
  deps: Dependencies,
  routeOf: (access: Access, replaced?: Route) => Promise<Route>,
): Promise<RotatingFiles<Route>> {
  const { clock, log } = deps;
  let last: { readonly context: KubeconfigContext; readonly route: Route } | undefined;
  let warnedOf: number | undefined;
  return openFiles({
    paths: [path],
    checkMode(mode) {
      if (mode !== warnedOf) checkWriters(path, mode, log);
      warnedOf = mode;
    },
    async parse([text = '']) {
      const context = contextOf(mergeKubeconfigs([{ path, config: parseKubeconfig(text, path) }]));
      refuseInsecure(context);
      if (!isDeepStrictEqual(context, last?.context)) {
        const route = await routeOf(await accessOf(context, deps), last?.route);
        if (last !== undefined) log.info({ path, server: route.server.href }, 'changed kubeconfig in use');
        last = { context, route };
      }
      return last!.route;
    },
    clock,
    log,
  });
}

/** How a context reaches its cluster. @throws {ClusterAuthError} with the name of the field */
export async function accessOf(context: KubeconfigContext, deps: Dependencies): Promise<Access> {
  const { cluster, user, from } = context;
  const place = placeOf('cluster', from.cluster);
  const userPlace = placeOf('user', from.user);
  const authority = { file: cluster['certificate-authority'], data: cluster['certificate-authority-data'] };
  const source = pemSource(place.where('certificate-authority'), authority, place);
  const ca = source === undefined ? await openSystemRoots(deps) : await openCa(source, deps);
  const proxy = cluster['proxy-url'];
  const server = parseServer(cluster.server, place.where('server'));
  return {
    server,
    ca,
    // As kubectl: without TLS, others could read them.
    credentials: server.protocol === 'http:' ? fixed({}) : await openUser(context, userPlace, source && ca, deps),
    tlsServerName: cluster['tls-server-name'],
    insecure: cluster['insecure-skip-tls-verify'],
    headers: impersonationHeaders(user, userPlace.where),
    ...(proxy !== undefined && { proxy: parseProxy(proxy, place.where('proxy-url')) }),
  };
}

/** An app runs for months; the person who runs `semaphore` may know that the network is safe. */
function refuseInsecure({ cluster, from }: KubeconfigContext): void {
  if (!cluster['insecure-skip-tls-verify']) return;
  const { name, path } = from.cluster;
  throw new ClusterAuthError(
    'CLUSTER_KUBECONFIG',
    `kubeconfig ${path}: cluster "${name}" has insecure-skip-tls-verify, which is not allowed: ` +
      'use certificate-authority(-data) instead',
  );
}

/**
 * A kubeconfig may name programs that we run (`exec`), so it must not be writable by anyone. Its folder isn't checked:
 * within a Pod, anyone may write the folder of a mounted volume.
 *
 * @throws {ClusterAuthError} if anyone may write the file
 */
function checkWriters(path: string, mode: number, log: Logger): void {
  switch (writersOf(mode)) {
    case 'anyone':
      throw new ClusterAuthError('CLUSTER_KUBECONFIG', `kubeconfig ${path}: ${writableByAnyone(path, mode)}`);
    case 'group':
      log.warn(
        { path, mode: octal(mode) },
        'kubeconfig is writable by its group, which can so make us run any program; use chmod g-w',
      );
  }
}
