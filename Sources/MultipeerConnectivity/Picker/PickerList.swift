internal import CausewayPeers
internal import CausewayTypes

/// The content of the peer picker: peers, their states, and the selected line. Does no I/O.
struct PickerList: Sendable {
    /// A listed peer's state.
    enum Status: Sendable {
        case found, invited, connecting, connected, failed
    }

    /// An action caused by a key press.
    enum Action: Equatable, Sendable {
        case invite(PeerIdentity)
        case finish
        case cancel
    }

    private struct Entry: Sendable {
        var peer: PeerIdentity
        var status: Status
        /// Whether the peer currently advertises the service.
        var isPresent = true
    }

    /// Minimum number of peers in the session, including the local peer.
    var minimum = kMCSessionMinimumNumberOfPeers
    /// Maximum number of peers in the session, including the local peer.
    var maximum = kMCSessionMaximumNumberOfPeers
    private let title: String
    private var entries: [Entry] = []
    private var selected = 0
    /// Maximum number of listed peers, so that a flood of announcements cannot fill the memory.
    private static let limit = 512

    init(title: String) { self.title = title }

    /// Whether the session has enough peers, so that the user may choose Done.
    var canFinish: Bool { count(.connected) + 1 >= minimum }
    /// Whether another peer may be invited.
    var canInvite: Bool { count(.connected) + count(.connecting) + count(.invited) + 1 < maximum }

    private func count(_ status: Status) -> Int { entries.count { $0.status == status } }
    private func index(_ peer: PeerIdentity) -> Int? { entries.firstIndex { $0.peer.id == peer.id } }

    /// Removes all peers, because their changes are not observed any more.
    mutating func clear() { (entries, selected) = ([], 0) }

    mutating func found(_ peer: PeerIdentity) {
        if let index = index(peer) {
            entries[index].isPresent = true
            entries[index].peer = peer
        } else if entries.count < Self.limit {
            entries.append(Entry(peer: peer, status: .found))
        }
    }

    /// Marks a peer as lost, and removes it unless it takes part in the session or is invited.
    mutating func lost(_ peer: PeerIdentity) {
        guard let index = index(peer) else { return }
        entries[index].isPresent = false
        removeAbsent()
    }

    mutating func changed(_ peer: PeerIdentity, to state: MCSessionState) {
        let status: Status =
            switch state {
            case .connected: .connected
            case .connecting: .connecting
            case .notConnected: .failed
            }
        if let index = index(peer) {
            entries[index].status = status
        } else if state != .notConnected {
            // A peer can join without being found by this host, for example if another member invited it.
            entries.append(Entry(peer: peer, status: status, isPresent: false))
        }
        removeAbsent()
    }

    private mutating func removeAbsent() {
        let current = entries.indices.contains(selected) ? entries[selected].peer : nil
        entries.removeAll { !$0.isPresent && ($0.status == .found || $0.status == .failed) }
        selected = current.flatMap { index($0) } ?? min(selected, max(0, entries.count - 1))
    }

    mutating func press(_ key: PickerKey) -> Action? {
        switch key {
        case .up: selected = max(0, selected - 1)
        case .down: selected = min(max(0, entries.count - 1), selected + 1)
        case .enter:
            guard entries.indices.contains(selected), canInvite else { return nil }
            let entry = entries[selected]
            guard entry.status == .found || entry.status == .failed else { return nil }
            entries[selected].status = .invited
            return .invite(entry.peer)
        case .done: return canFinish ? .finish : nil
        case .cancel, .interrupt: return .cancel
        }
        return nil
    }

    /// Returns the text for a terminal with `height` lines.
    func lines(height: Int) -> [PrintableText] {
        var lines: [PrintableText] = ["\(title)"]
        let room = max(1, height - 4)
        let first = max(0, min(selected - room + 1, entries.count - room))
        for index in entries.indices.dropFirst(first).prefix(room) {
            let mark: PrintableText = index == selected ? "> " : "  "
            lines.append(mark + PrintableText(foreign: entries[index].peer.name) + entries[index].status.text)
        }
        if entries.isEmpty { lines.append("  Searching for peers ...") }
        if entries.count > room { lines.append("  \(entries.count) peers") }
        lines.append(canFinish ? "Enter: invite   d: done   q: cancel" : "Enter: invite   q: cancel")
        return lines
    }
}

extension PickerList.Status {
    fileprivate var text: PrintableText {
        switch self {
        case .found: ""
        case .invited: "   invited"
        case .connecting: "   connecting"
        case .connected: "   connected"
        case .failed: "   not connected"
        }
    }
}
