import { constants, globSync } from 'node:fs';
import { access, readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bom } from '../../src/bom/bom.ts';
import { bomPath, commandsOf } from '../../src/bundle/bundle.ts';
import { imageName, startContainer } from '@kube-semaphore/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inspect, mount, unmount } from '../support/image.ts';

const workspace = fileURLToPath(new URL('../../../../', import.meta.url));

const unprivileged = { user: '65532:65532', more: [], tools: ['env'] } as const;

const images = [
  { app: 'policy', ...unprivileged },
  { app: 'service-mirror', ...unprivileged },
  { app: 'wireguard', user: '0:0', more: ['wireguard-go'], tools: ['env', 'ip', 'wg'] },
  { app: 'cli', ...unprivileged, more: ['package.json'] },
] as const;

/** The platform of this machine, as in the name of a bill. */
const platform = `linux-${process.arch === 'x64' ? 'amd64' : process.arch}`;

/** The output lines of a program in an image. */
async function outputOf(app: string, command: string, ...args: readonly string[]): Promise<readonly string[]> {
  const container = startContainer({ image: imageName(app), command, args });
  const { code } = await container.exited;
  if (code !== 0) throw new Error(container.stderr());
  return container.stdout().trimEnd().split('\n');
}

const PATH = ['usr/local/sbin', 'usr/local/bin', 'usr/sbin', 'usr/bin', 'sbin', 'bin'];

describe.each(images)('the image of $app', ({ app, user, more, tools }) => {
  const commands = commandsOf(app);
  const lib = `usr/local/lib/semaphore-${app}`;
  let root = '';
  beforeAll(async () => {
    root = await mount(app);
  });
  afterAll(() => unmount(app));
  const ofOurs = (pattern: string): readonly string[] => globSync(pattern, { cwd: join(root, lib) });
  const onPath = (program: string): readonly string[] =>
    PATH.filter((folder) => globSync(join(folder, program), { cwd: root }).length > 0);

  it('has its program at the top, as the Go image', async () => {
    for (const command of commands) {
      const target = await readlink(join(root, command));
      expect(target).toMatch(new RegExp(`^${lib}/${commands[0]}\\.[cm]js$`));
      await access(join(root, target), constants.X_OK);
    }
  });

  it('has user, entry point and labels', async () => {
    const { version } = JSON.parse(await readFile(join(workspace, 'package.json'), 'utf8')) as { version: string };
    const { User, Entrypoint, Labels, Env } = await inspect(app);
    expect({ User, Entrypoint }).toEqual({ User: user, Entrypoint: [`/${commands[0]}`] });
    const label = (name: string): string | undefined => Labels[`org.opencontainers.image.${name}`];
    expect({ title: label('title'), version: label('version'), licences: label('licenses') }).toEqual({
      title: `semaphore-${app}`,
      version,
      licences: 'Apache-2.0',
    });
    expect(label('revision')).toMatch(/^([0-9a-f]{40}(-dirty)?|unknown)$/);
    expect(label('source')).not.toMatch(/^$|:\/\/[^/]*@/);
    expect(Env.map((variable) => variable.split('=')[0])).toEqual(
      app === 'cli' ? ['PATH'] : ['PATH', 'SEMAPHORE_COMMIT'],
    );
  });

  it('has a bundle and Node.js besides its base, and no build tools', async () => {
    // Help and SOCKS are lazy imports. `build` is the folder with the entry of the socks library.
    const files = [...ofOurs('**')].filter(
      (path) =>
        !/^((main|help-\w+|build-\w+|chunk-\w+)\.mjs(\.map)?|semaphore-[a-z-]+\.mjs|semaphore\.cjs(\.map)?)$/.test(
          path,
        ),
    );
    expect(files.filter((path) => path !== '.')).toEqual(more);
    expect(globSync('usr/local/{bin,lib}/*', { cwd: root }).toSorted()).toEqual(['usr/local/bin/node', lib]);
    expect(globSync('**/{node_modules,.git,.npmrc,tsconfig.json}', { cwd: root })).toEqual([]);
  });

  it('names lines of sources, and contains no sources and no path of the build machine', async () => {
    const maps = ofOurs('*.map');
    expect(maps).not.toEqual([]);
    for (const map of maps)
      expect(JSON.parse(await readFile(join(root, lib, map), 'utf8'))).not.toHaveProperty('sourcesContent');
    for (const file of ofOurs('*.{mjs,cjs,map}'))
      expect(await readFile(join(root, lib, file), 'utf8')).not.toContain(workspace);
    for (const file of globSync('etc/{hostname,resolv.conf}', { cwd: root }))
      expect(await readFile(join(root, file), 'utf8')).not.toContain(hostname());
  });

  it('has the packages and the Node.js of its bill of materials, each once', async () => {
    const bom = await readFile(bomPath(workspace, `semaphore-${app}-${platform}`), 'utf8');
    const { components } = JSON.parse(bom) as Bom;
    const named = (prefix: string) => {
      const found = components.filter(({ purl = '' }) => purl.startsWith(prefix));
      return found.map(({ name, version }) => `${name} ${version}`).toSorted();
    };
    const format = '${db:Status-Status} ${Package} ${Version}\n';
    const packages = await outputOf(app, 'dpkg-query', '--show', `--showformat=${format}`);
    const installed = packages
      .filter((line) => line.startsWith('installed '))
      .map((line) => line.slice('installed '.length));
    expect(named('pkg:deb/')).toEqual(installed.toSorted());
    const [version] = await outputOf(app, 'node', '--version');
    expect(named('pkg:generic/node')).toEqual([`node ${version?.slice(1)}`]);
    expect(named('pkg:golang/golang.zx2c4.com/')).toHaveLength(app === 'wireguard' ? 1 : 0);
  });

  it('finds its tools', () => {
    expect(tools.filter((program) => onPath(program).length === 0)).toEqual([]);
    // Only a sidecar should run it, not the agent.
    expect(onPath('wireguard-go')).toEqual([]);
  });
});
