/** The protocols of ports, of Services and of endpoints. */
export const protocols: readonly string[] = ['SCTP', 'TCP', 'UDP'];

export const isPortNumber = (port: unknown): boolean => typeof port === 'number' && port >= 1 && port <= 65_535;
