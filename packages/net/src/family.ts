/** An address family. */
export type IpFamily = 4 | 6;

/** As config files and `/status` name it. */
export type FamilyName = `ipv${IpFamily}`;

/** The family of an address. @param ip canonical */
export const familyOf = (ip: string): IpFamily => (ip.includes(':') ? 6 : 4);

/** `ipv4` or `ipv6`. */
export const familyName = (family: IpFamily): FamilyName => `ipv${family}`;

/** The reverse of {@link familyName}. */
export const familyNamed = (name: FamilyName): IpFamily => (name === 'ipv4' ? 4 : 6);
