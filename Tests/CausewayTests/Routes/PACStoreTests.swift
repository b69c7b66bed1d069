import CausewaySystem
import Foundation
import Testing

@testable import Causeway
@testable import CausewayProtocols

@Suite("The cache of proxy scripts")
struct PACStoreTests {
    /// A simulated fetch of a proxy script. The test decides when it ends.
    private final class Fetch: PACFetching {
        private let report: @Sendable (PACStore.Outcome) -> Void
        let isCancelled = LockedValue(false)

        init(_ report: @escaping @Sendable (PACStore.Outcome) -> Void) { self.report = report }

        func start() {}
        func cancel() { isCancelled.withLock { $0 = true } }
        func end(_ script: String) {
            report(.success(DocumentFetch.Document(content: Array(script.utf8), freshness: 60)))
        }
    }

    /// A script store with simulated fetches, and the scripts that its requests received.
    private final class Rig: Sendable {
        private let made = LockedValue<[Fetch]>([])
        private let received = LockedValue<[String]>([])
        private let context = NWParameters.PrivacyContext(description: "test")

        var fetches: [Fetch] { made.withLock { $0 } }
        var scripts: [String] { received.withLock { $0 } }

        func makeStore() -> PACStore {
            PACStore { [self] _, _, completion in
                let fetch = Fetch(completion)
                made.withLock { $0.append(fetch) }
                return fetch
            }
        }

        @discardableResult
        func find(in store: PACStore) throws -> @Sendable () -> Void {
            let parameters = NWParameters.tcp
            parameters.setPrivacyContext(context)
            let url = try #require(URL(string: "http://192.0.2.1/proxy.pac"))
            return store.find(try PACLocation(url), parameters) { [self] outcome in
                guard case .success(let document) = outcome else { return }
                received.withLock { $0.append(String(decoding: document.content, as: UTF8.self)) }
            }
        }

        func flush(_ store: PACStore) { store.forget(partition: context.settings.partition) }
    }

    @Test("Requests at the same time share a fetch, and later ones use the cached script")
    func shared() throws {
        let rig = Rig()
        let store = rig.makeStore()
        for _ in 0..<2 { try rig.find(in: store) }
        #expect(rig.fetches.count == 1 && rig.scripts.isEmpty)
        rig.fetches[0].end("old")
        try rig.find(in: store)
        #expect(rig.fetches.count == 1 && rig.scripts == ["old", "old", "old"])
    }

    @Test("A script whose fetch began before the cache was cleared answers its requests and is not cached")
    func cleared() throws {
        let rig = Rig()
        let store = rig.makeStore()
        try rig.find(in: store)
        rig.flush(store)
        try rig.find(in: store)
        #expect(rig.fetches.count == 2)
        rig.fetches[0].end("old")
        #expect(rig.scripts == ["old"])
        try rig.find(in: store)
        #expect(rig.fetches.count == 2)
        rig.fetches[1].end("new")
        try rig.find(in: store)
        #expect(rig.fetches.count == 2 && rig.scripts == ["old", "new", "new", "new"])
    }

    @Test("A fetch is cancelled when its last request is given up, also after the cache was cleared")
    func givenUp() throws {
        let rig = Rig()
        let store = rig.makeStore()
        let giveUp = try [rig.find(in: store), rig.find(in: store)]
        rig.flush(store)
        giveUp[0]()
        #expect(!rig.fetches[0].isCancelled.withLock { $0 })
        giveUp[1]()
        #expect(rig.fetches[0].isCancelled.withLock { $0 })
    }
}
