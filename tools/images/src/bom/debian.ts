import { type Component, encoded } from './bom.ts';

/**
 * The distribution of an image, and its packages.
 *
 * @param osRelease text of os-release
 * @param status dpkg's status files, concatenated; empty without dpkg
 */
export function debianComponents(osRelease: string, status: string): Component[] {
  const { ID: name = 'linux', VERSION_ID: version } = Object.fromEntries(
    osRelease.split('\n').map((line) => line.replaceAll('"', '').split('=')),
  );
  const distro = version === undefined ? name : `${name}-${version}`;
  return [
    { type: 'operating-system', name, ...(version !== undefined && { version }) },
    ...status.split(/\n{2,}/).flatMap((stanza) => packageOf(stanza, name, distro)),
  ];
}

/** A removed package has a stanza while its configuration exists. */
function packageOf(stanza: string, vendor: string, distro: string): Component[] {
  const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(stanza)?.[1];
  const [name, version, architecture, state = 'installed'] = [
    field('Package'),
    field('Version'),
    field('Architecture'),
    field('Status'),
  ];
  if (name === undefined || version === undefined || !state.endsWith('installed') || state.includes('not-installed'))
    return [];
  const purl = `pkg:deb/${vendor}/${encoded(name)}@${encoded(version)}?arch=${architecture ?? 'all'}&distro=${distro}`;
  return [{ type: 'library', name, version, purl }];
}
