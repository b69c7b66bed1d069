/// The sources for host name lookups, and the results that end a lookup, from the `hosts` line in nsswitch.conf(5).
package struct NameServiceOrder: Equatable, Sendable {
    package enum Source: Hashable, Sendable {
        /// The hosts file, /etc/hosts.
        case files
        /// The DNS servers in resolv.conf. The source `resolve`, a local forwarder, also counts as DNS.
        case dns
        /// Multicast DNS. It resolves names in the domain `local`.
        case multicast
        /// The source `myhostname`, which knows only the host's own name.
        case ownName
    }

    /// The result of a lookup in one source.
    package enum Status: String, CaseIterable, Hashable, Sendable { case success, notfound, unavail, tryagain }

    package struct Step: Equatable, Sendable {
        package var source: Source
        /// The results that end the lookup. After any other result, the next source is used.
        package var stops: Set<Status>

        package init(_ source: Source, stops: Set<Status> = [.success]) {
            self.source = source
            self.stops = stops
        }
    }

    package var steps: [Step]

    package init(_ steps: [Step] = [Step(.files), Step(.dns)]) { self.steps = steps }

    private static let sources: [Substring: Source] = [
        "files": .files, "dns": .dns, "resolve": .dns, "mdns": .multicast, "mdns4": .multicast, "mdns6": .multicast,
        "mdns_minimal": .multicast, "mdns4_minimal": .multicast, "mdns6_minimal": .multicast, "myhostname": .ownName,
    ]

    /// Parses the text of nsswitch.conf. Ignores unknown sources, and the actions after an unknown source. Without a
    /// `hosts` line, the order is files, then DNS.
    package init(parsing text: String) {
        self.init()
        for line in text.split(whereSeparator: \.isNewline) {
            let meaning = line.prefix { $0 != "#" }
            guard let colon = meaning.firstIndex(of: ":"),
                meaning[..<colon].filter({ !$0.isWhitespace }) == "hosts"
            else { continue }
            steps = Self.steps(meaning[meaning.index(after: colon)...])
            return
        }
    }

    private static func steps(_ text: Substring) -> [Step] {
        var steps: [Step] = []
        var rest = text.drop(while: \.isWhitespace)
        var isKnown = false
        while let first = rest.first {
            if first == "[" {
                let inside = rest.dropFirst().prefix { $0 != "]" }
                rest = rest.dropFirst(inside.count + 2)
                if isKnown, let last = steps.indices.last { adopt(inside, &steps[last].stops) }
            } else {
                let word = rest.prefix { !$0.isWhitespace && $0 != "[" }
                rest = rest.dropFirst(word.count)
                let source = sources[word]
                isKnown = source != nil
                if let source { steps.append(Step(source)) }
            }
            rest = rest.drop(while: \.isWhitespace)
        }
        return steps
    }

    /// Parses `STATUS=action` pairs. An exclamation mark before a status means all other statuses.
    private static func adopt(_ text: Substring, _ stops: inout Set<Status>) {
        for pair in text.split(whereSeparator: \.isWhitespace) {
            let parts = pair.lowercased().split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let isNegated = parts[0].first == "!"
            guard let status = Status(rawValue: String(isNegated ? parts[0].dropFirst() : parts[0])) else { continue }
            let meant = isNegated ? Set(Status.allCases).subtracting([status]) : [status]
            if parts[1] == "return" { stops.formUnion(meant) } else { stops.subtract(meant) }
        }
    }
}
