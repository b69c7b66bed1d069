internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

/// The hosts with HTTP Strict Transport Security (RFC 6797), which accept secure connections only.
///
/// The shared store has a file, in the directory that also contains the shared cookie storage. Sessions with a default
/// or background configuration use this store. Every other session of the program has a separate store in memory.
final class StrictTransportStore: Sendable {
    /// The program's store; without a home directory, and in test runners, it is in memory only.
    static let shared = StrictTransportStore(directory: StoreDirectory.application)

    private struct State {
        var hosts: StrictTransportHosts
        /// Whether the store's file has been read. Always `true` for a store without a file.
        var isLoaded: Bool
    }

    private let state: LockedValue<State>
    private let file: PrivateFile?
    /// The writer for the store's file; `nil` without a file. The initializer sets it last, because the writer's
    /// closure refers to this object.
    private let writer = LockedValue<StoreWriter?>(nil)

    /// Creates a store with a file, or in memory if `directory` is `nil`.
    ///
    /// - Parameters:
    ///   - directory: The file's directory.
    ///   - savesAtExit: Whether changes are also written when the process exits.
    init(directory: String?, savesAtExit: Bool = true) {
        file = directory.map { PrivateFile(directory: $0, name: "strict-transport") }
        state = LockedValue(
            State(hosts: StrictTransportHosts(hasFile: directory != nil), isLoaded: directory == nil))
        guard file != nil else { return }
        let made = StoreWriter(savesAtExit: savesAtExit) { [weak self] in self?.save() }
        writer.withLock { $0 = made }
    }

    private static var now: Int { Int(min(max(Date().timeIntervalSince1970, 0), 1e11)) }

    /// Whether the store contains no hosts. Reads the store's file first if it has not been read yet.
    var isEmpty: Bool { withHosts { $0.isEmpty } }

    /// Records a response's policy.
    func note(_ policy: StrictTransportPolicy, of origin: HTTPOrigin) {
        if withHosts({ $0.note(policy, of: origin, at: Self.now) }) { noteChange() }
    }

    /// Returns the target with a secure scheme if the target's host requires it; otherwise `nil`.
    func secured(_ target: URIReference) -> URIReference? { withHosts { $0.secured(target, at: Self.now) } }

    /// Removes all hosts, including those in the file.
    func removeAll() {
        if let read = file?.read() {
            withHosts { $0.adopt(StrictTransportRecord.decode(read, at: Self.now), at: Self.now) }
        }
        if withHosts({ $0.removeAll() }) { noteChange() }
    }

    /// Writes pending changes, and returns when that is done.
    func flush() { writer.withLock { $0 }?.flush() }

    // MARK: The file

    private func noteChange() { writer.withLock { $0 }?.noteChange() }

    /// Calls `body` with the hosts, after reading those in the file. If the file cannot be read now, the next call
    /// tries again.
    private func withHosts<Result: Sendable>(_ body: (inout StrictTransportHosts) -> Result) -> Result {
        if let file, !state.withLock({ $0.isLoaded }) {
            do throws(SystemError) {
                let read = StrictTransportRecord.decode(try file.contents() ?? [], at: Self.now)
                state.withLock { state in
                    if !state.isLoaded { state.hosts.adopt(read, at: Self.now) }
                    state.isLoaded = true
                }
            } catch {}
        }
        return state.withLock { body(&$0.hosts) }
    }

    /// Writes this process's changes to the file, and adopts the changes of other processes.
    private func save() {
        let changes = withHosts { $0.takeChanges() }
        guard let file, !changes.isEmpty else { return }
        var merged: [StrictTransportRecord] = []
        let isWritten = file.update { old in
            merged = StrictTransportHosts.merge(
                StrictTransportRecord.decode(old, at: Self.now), with: changes, at: Self.now)
            return StrictTransportRecord.encode(merged)
        }
        let written = merged
        withHosts { hosts in
            if isWritten { hosts.adopt(written, at: Self.now) } else { hosts.restore(changes) }
        }
    }
}
