internal import CausewayHTTPProtocols
internal import CausewaySystem
internal import Dispatch

/// The process-wide public suffixes: the system's list (package `publicsuffix`), or the built-in selection.
///
/// The system's list is read once, on a background queue, after ``prepare(_:)``. Until then the built-in selection is used.
final class PublicSuffixes: Sendable {
    static let shared = PublicSuffixes(file: "/usr/share/publicsuffix/public_suffix_list.dat")

    private struct State {
        /// The system's list; `nil` while the built-in selection is used. It is loaded only when a program uses
        /// cookies, so that other programs do not keep it in memory.
        var list: PublicSuffixList?
        var isLoading = false
        var isReady = false
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = LockedValue(State())
    private let file: String

    init(file: String) { self.file = file }

    var list: PublicSuffixList { state.withLock { $0.list } ?? .builtIn }

    /// Reads the system's list of public suffixes, if that was not done yet.
    ///
    /// Then calls `changed`, because the system's list and the built-in list can give different results.
    func prepare(_ changed: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            guard !state.isReady else { return false }
            state.waiting.append(changed)
            defer { state.isLoading = true }
            return !state.isLoading
        }
        guard isFirst else { return }
        DispatchQueue.global(qos: .utility).async { [self] in load() }
    }

    private func load() {
        let parsed = SystemFile.read(file, limit: PublicSuffixList.maximumByteCount).map {
            PublicSuffixList(parsing: $0)
        }
        let waiting = state.withLock { state in
            // The system's list must have more rules than the built-in selection. Otherwise, the system's file is
            // probably damaged, so use the built-in selection.
            if let parsed, parsed.count > PublicSuffixList.builtIn.count { state.list = parsed }
            state.isReady = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for changed in waiting { changed() }
    }
}
