import { goesWithoutKubectl } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { proxyFor } from '../src/proxy/environment.ts';
import { askByKubectl } from './kubectl.ts';
import { startConnectProxy } from './proxies.ts';
import { temporaryFolder, writeConfig } from './world.ts';

/** A server, NO_PROXY, and whether the server has a proxy all the same. */
const lists: readonly (readonly [server: string, list: string, isProxied: boolean])[] = [
  ['api.example.com', '', true],
  ['api.example.com', '*', false],
  ['10.9.8.7', '*', false],
  ['api.example.com', 'other,*', false],
  ['api.example.com', '*.com', false],
  ['api.example.com', '*example.com', true],
  ['api.example.com', 'example.com', false],
  ['example.com', 'example.com', false],
  ['api.example.com', '.example.com', false],
  ['example.com', '.example.com', true],
  ['example.com', '*.example.com', true],
  ['notexample.com', 'example.com', true],
  ['API.example.com', ' EXAMPLE.com ', false],
  ['api.example.com', 'other ,\tapi.example.com', false],
  ['api.example.com', 'other api.example.com', true],
  ['api.example.com', ' ,,', true],
  ['api.example.com.', 'example.com', true],
  ['api.example.com', 'example.com.', true],
  ['api.example.com:6443', 'api.example.com:6443', false],
  ['api.example.com:6443', 'example.com:6443', false],
  ['api.example.com:6443', 'api.example.com:443', true],
  ['api.example.com', 'api.example.com:443', false],
  ['api.example.com', 'api.example.com:', false],
  ['api.example.com', 'api.example.com:https', true],
  ['api.example.com:6443', 'api.example.com:06443', true],
  ['api.example.com', ':443', true],
  ['api.example.com', 'https://api.example.com', true],
  ['bücher.example.com', 'bücher.example.com', false],
  ['10.9.8.7', '10.9.8.7', false],
  ['10.9.8.7', '10.9.8.8', true],
  ['10.9.8.7', '010.9.8.7', true],
  ['10.9.8.7:6443', '10.9.8.7:6443', false],
  ['10.9.8.7:6443', '10.9.8.7:443', true],
  ['10.9.8.7', '::ffff:10.9.8.7', false],
  ['10.9.8.7', '9.8.7', true],
  ['10.9.8.7', '.8.7', true],
  ['10.9.8.7', '10.0.0.0/8', false],
  ['10.9.8.7', '10.9.8.200/24', false],
  ['10.9.8.7', '010.0.0.0/8', true],
  ['10.9.8.7', '10.0.0.0/33', true],
  ['10.9.8.7', '10.0.0.0/8:443', true],
  ['10.9.8.7', '::/0', true],
  ['10.9.8.7', '::ffff:10.0.0.0/104', false],
  ['api.example.com', '0.0.0.0/0', true],
  ['[fd00::1]', 'fd00::1', false],
  ['[fd00::1]', 'FD00:0::1', false],
  ['[fd00::1]', '[fd00::1]', true],
  ['[fd00::1]', 'fd00::1:443', true],
  ['[fd00::1]', '[fd00::1]:443', false],
  ['[fd00::1]:6443', '[fd00::1]:443', true],
  ['[fd00::1]', 'fd00::/8', false],
  ['[fd00::1]', '[fd00::]/8', true],
  ['[::ffff:10.9.8.7]', '10.0.0.0/8', false],
  ['[::ffff:127.0.0.1]', '', false],
  ['localhost', '', false],
  ['127.9.9.9', '', false],
  ['[::1]', '', false],
  ['api.localhost', '', true],
];

const other = 'http://127.0.0.1:1';

/** `PROXY` is the one that connects. */
const variables: readonly (readonly [env: Readonly<Record<string, string>>, isProxied: boolean])[] = [
  [{}, false],
  [{ https_proxy: 'http://PROXY' }, true],
  [{ HTTPS_PROXY: 'http://PROXY', https_proxy: other }, true],
  [{ HTTPS_PROXY: '', https_proxy: 'http://PROXY' }, true],
  [{ HTTP_PROXY: 'http://PROXY', http_proxy: 'http://PROXY' }, false],
  [{ ALL_PROXY: 'http://PROXY', all_proxy: 'http://PROXY' }, false],
  [{ HTTPS_PROXY: 'http://PROXY', no_proxy: '*' }, false],
  [{ HTTPS_PROXY: 'http://PROXY', NO_PROXY: 'other', no_proxy: '*' }, true],
  [{ HTTPS_PROXY: 'http://PROXY', NO_PROXY: '', no_proxy: '*' }, false],
  [{ HTTPS_PROXY: 'PROXY' }, true],
  [{ HTTPS_PROXY: 'http://PROXY/some/path' }, true],
  [{ HTTPS_PROXY: 'http://jane:secret@PROXY' }, true],
];

/** How many kubectls run at once. */
const AT_ONCE = 6;

/** Whether kubectl asks the proxy, and whether we would. */
async function proxied(server: string, env: Readonly<Record<string, string>>, isProxied: boolean) {
  const proxy = await startConnectProxy({ leadsTo: 1 });
  const own = Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value.replace('PROXY', `127.0.0.1:${proxy.port}`)]),
  );
  const path = await writeConfig(await temporaryFolder(), { server }, { token: 't' });
  // A host that doesn't exist may take long to fail.
  await askByKubectl(path, own, isProxied ? [] : ['--request-timeout=1s']);
  return { kubectl: proxy.asked.length > 0, ours: proxyFor(new URL(server), own) !== undefined };
}

type Case = {
  readonly what: string;
  readonly server: string;
  readonly env: Readonly<Record<string, string>>;
  readonly isProxied: boolean;
};

/** What happens, and what should, by case. */
async function compared(cases: readonly Case[]) {
  const found: [string, object][] = [];
  for (let i = 0; i < cases.length; i += AT_ONCE)
    await Promise.all(
      cases.slice(i, i + AT_ONCE).map(async ({ what, server, env, isProxied }) => {
        found.push([what, await proxied(server, env, isProxied)]);
      }),
    );
  const want = cases.map(({ what, isProxied }) => [what, { kubectl: isProxied, ours: isProxied }] as const);
  return { found: Object.fromEntries(found), want: Object.fromEntries(want) };
}

describe.skipIf(goesWithoutKubectl)('as kubectl', () => {
  it('NO_PROXY exempts servers', async () => {
    const { found, want } = await compared(
      lists.map(([host, list, isProxied]) => ({
        what: `${host} with ${JSON.stringify(list)}`,
        server: `https://${host}`,
        env: { HTTPS_PROXY: 'http://PROXY', NO_PROXY: list },
        isProxied,
      })),
    );
    expect(found).toEqual(want);
  });

  it('the environment names a proxy', async () => {
    const server = 'https://api.example.com';
    const { found, want } = await compared(
      variables.map(([env, isProxied]) => ({ what: JSON.stringify(env), server, env, isProxied })),
    );
    expect(found).toEqual(want);
  });
});
