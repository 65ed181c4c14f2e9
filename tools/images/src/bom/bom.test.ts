import { describe, expect, it } from 'vitest';
import { type Component, renderBom } from './bom.ts';
import { faultsOf } from './cyclonedx-schema.ts';
import { debianComponents } from './debian.ts';
import { goComponents } from './go.ts';
import { npmComponents } from './npm.ts';

const subject: Component = { type: 'application', name: 'semaphore-policy', version: '0.1.0' };
const pino: Component = { type: 'library', name: 'pino', version: '10.4.0', purl: 'pkg:npm/pino@10.4.0' };
const zod: Component = { type: 'library', name: 'zod', version: '4.6.7', purl: 'pkg:npm/zod@4.6.7' };

describe('a bill of materials', () => {
  it('is the same for the same parts in another order', () => {
    expect(renderBom(subject, [zod, pino])).toBe(renderBom(subject, [pino, zod]));
  });

  it('has another serial number for other parts', () => {
    const serialNumber = (parts: readonly Component[]) =>
      (JSON.parse(renderBom(subject, parts)) as { serialNumber: string }).serialNumber;
    expect(serialNumber([pino])).not.toBe(serialNumber([zod]));
  });

  it.each([
    { epoch: undefined, timestamp: undefined },
    { epoch: 1_700_000_000, timestamp: '2023-11-14T22:13:20.000Z' },
  ])('of $epoch has the time $timestamp', ({ epoch, timestamp }) => {
    expect(
      (JSON.parse(renderBom(subject, [], { epoch })) as { metadata: { timestamp?: string } }).metadata.timestamp,
    ).toBe(timestamp);
  });

  it('is valid for the schema of CycloneDX', () => {
    const parts = [...debianComponents(osRelease, status), ...goComponents(program), ...npmComponents(metafile, lock)];
    expect(faultsOf(renderBom(subject, parts, { epoch: 0 }))).toEqual([]);
  });

  it('is not valid with a licence that SPDX doesn’t know', () => {
    expect(faultsOf(renderBom(subject, [{ ...pino, licenses: [{ license: { id: 'Beerware-2' } }] }]))).not.toEqual([]);
  });
});

const lock = {
  packages: {
    'node_modules/execa': {
      version: '10.2.1',
      license: 'MIT',
      integrity: `sha512-${Buffer.alloc(64, 7).toString('base64')}`,
    },
    'node_modules/execa/node_modules/figures': { version: '6.1.0', license: '(MIT OR CC0-1.0)' },
    'node_modules/figures': { version: '3.2.0', license: 'MIT' },
    'node_modules/@pinojs/redact': { version: '0.4.0' },
  },
};

const metafile = {
  inputs: {},
  outputs: {
    'main.mjs': output(
      'apps/policy/src/main.ts',
      'node_modules/execa/index.js',
      'node_modules/execa/lib/a.js',
      'node_modules/@pinojs/redact/index.js',
    ),
    'help.mjs': output('packages/net/src/ip.ts', 'node_modules/execa/node_modules/figures/index.js'),
  },
};

function output(...paths: readonly string[]) {
  return {
    bytes: 0,
    imports: [],
    exports: [],
    inputs: Object.fromEntries(paths.map((path) => [path, { bytesInOutput: 1 }])),
  };
}

describe('npmComponents', () => {
  it('names each package once, in the version that the bundle has, with hash and licence', () => {
    expect(npmComponents(metafile, lock)).toEqual([
      {
        type: 'library',
        name: 'execa',
        version: '10.2.1',
        purl: 'pkg:npm/execa@10.2.1',
        licenses: [{ license: { id: 'MIT' } }],
        hashes: [{ alg: 'SHA-512', content: '07'.repeat(64) }],
      },
      { type: 'library', name: '@pinojs/redact', version: '0.4.0', purl: 'pkg:npm/%40pinojs/redact@0.4.0' },
      {
        type: 'library',
        name: 'figures',
        version: '6.1.0',
        purl: 'pkg:npm/figures@6.1.0',
        licenses: [{ expression: '(MIT OR CC0-1.0)' }],
      },
    ]);
  });

  it.each(['node_modules/left-pad/index.js', '../elsewhere/secret.js'])(
    'refuses an input that is not in the lock file: %s',
    (path) => {
      expect(() => npmComponents({ inputs: {}, outputs: { 'main.mjs': output(path) } }, lock)).toThrow(path);
    },
  );
});

const osRelease = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_ID="12"\nID=debian\n';
const status = `Package: libstdc++6
Status: install ok installed
Architecture: amd64
Version: 1:12.2.0-14+deb12u1

Package: wget
Status: deinstall ok config-files
Architecture: amd64
Version: 1.21.3-1

Package: tzdata
Version: 2026b-0+deb12u1
`;

describe('debianComponents', () => {
  it('has the distribution and the installed packages, with or without dpkg', () => {
    expect(debianComponents(osRelease, status)).toEqual([
      { type: 'operating-system', name: 'debian', version: '12' },
      {
        type: 'library',
        name: 'libstdc++6',
        version: '1:12.2.0-14+deb12u1',
        purl: 'pkg:deb/debian/libstdc%2B%2B6@1:12.2.0-14%2Bdeb12u1?arch=amd64&distro=debian-12',
      },
      {
        type: 'library',
        name: 'tzdata',
        version: '2026b-0+deb12u1',
        purl: 'pkg:deb/debian/tzdata@2026b-0%2Bdeb12u1?arch=all&distro=debian-12',
      },
    ]);
  });

  it('has only the distribution if there is no package manager', () => {
    expect(debianComponents('ID=wolfi\n', '')).toEqual([{ type: 'operating-system', name: 'wolfi' }]);
  });
});

const sentinel = Buffer.alloc(16, 'x');
const modules = Buffer.from(
  'path\texample.org/a\nmod\texample.org/a\tv1.2.3\th1:x=\ndep\texample.org/B/c\tv0.0.0+incompatible\th1:y=\nbuild\t-trimpath=true\n',
);
const list = Buffer.concat([sentinel, modules, sentinel]);
const header = Buffer.concat([Buffer.from('\xff Go buildinf:\x08\x02', 'latin1'), Buffer.alloc(16)]);
const elf = Buffer.alloc(48);
elf.write('\x7fELF\xff Go buildinf: of another place', 'latin1');
const program = Buffer.concat([
  elf,
  header,
  Buffer.from([8]),
  Buffer.from('go1.26.9'),
  Buffer.from([0x80 | (list.length & 0x7f), list.length >> 7]),
  list,
]);

describe('goComponents', () => {
  it('has the modules of a program, and its Go release', () => {
    expect(goComponents(program).map(({ purl }) => purl)).toEqual([
      'pkg:golang/stdlib@1.26.9',
      'pkg:golang/example.org/a@v1.2.3',
      'pkg:golang/example.org/B/c@v0.0.0%2Bincompatible',
    ]);
  });

  it.each([
    { name: 'a program of something else', bytes: Buffer.from('\x7fELF') },
    { name: 'half a program', bytes: program.subarray(0, 96) },
  ])('refuses $name', ({ bytes }) => {
    expect(() => goComponents(bytes)).toThrow(/program/);
  });
});
