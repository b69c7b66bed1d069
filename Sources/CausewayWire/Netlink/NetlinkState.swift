/// All that the kernel lists about a host's network, as it was listed.
package struct NetlinkState: Equatable, Sendable {
    package var links: [NetlinkLink]
    package var addresses: [NetlinkAddress]
    /// Of every table. The order of equal ones is the kernel's preference.
    package var routes: [NetlinkRoute]
    package var rules: [NetlinkRule]

    package init(
        links: [NetlinkLink] = [], addresses: [NetlinkAddress] = [], routes: [NetlinkRoute] = [],
        rules: [NetlinkRule] = []
    ) {
        self.links = links
        self.addresses = addresses
        self.routes = routes
        self.rules = rules
    }
}
