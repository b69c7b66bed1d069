import Foundation

/// The firewall rules visible to this user.
enum FirewallRules {
    /// Returns the nftables and iptables rules. The array has one text for each program that printed rules.
    static func visible() -> [String] {
        [("nft", ["list", "ruleset"]), ("iptables-save", []), ("ip6tables-save", [])]
            .compactMap { Tool.output($0.0, $0.1) }.filter { !$0.isEmpty }
    }

    /// Returns the firewall rules that drop or reject packets to a UDP port. Rules that come after an accepting rule
    /// for such packets do not count.
    static func dropping(_ port: UInt16, in rules: String) -> [String] {
        var isAccepted = false
        var found: [String] = []
        for line in rules.split(separator: "\n") {
            let words = line.split { " \t{},;".contains($0) }.map { $0.lowercased() }
            let isOther = words.contains("output") || words.contains("sport") || words.contains("--sport")
            guard words.contains(String(port)), !words.contains("tcp"), !isOther else { continue }
            if words.contains("accept") { isAccepted = true }
            let drops = words.contains("drop") || words.contains("reject")
            if drops, !isAccepted { found.append(line.trimmingCharacters(in: .whitespaces)) }
        }
        return found
    }
}
