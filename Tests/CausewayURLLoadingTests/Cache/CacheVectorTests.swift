import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("The cache and the tests of http-tests/cache-tests")
struct CacheVectorTests {
    /// The kinds of cache with which the tests run.
    enum Store: String, CaseIterable, Sendable {
        case memory
        /// A cache that stores responses in files. Each request uses a new cache object, so that the cache must read
        /// the files.
        case files
    }

    /// Optional tests that do not pass yet, with the reasons. The test suite calls these tests "optimal".
    static let notReached = [
        "vary-normalise-lang-select": "the languages of a response do not tell which the server would choose",
        "partial-store-partial-reuse-partial-suffix": "the stored part ends before the last byte",
        "partial-store-partial-complete": "without a validator, parts cannot be combined (RFC 9111 §3.4)",
    ]

    // HTTP caching: RFC 9111 §3.1, §3.2, §3.4, §4.1, §4.2.1, §4.2.2, §4.3, §5.2.2, §5.3; RFC 9110 §15.1.
    @Test("All required tests pass, and 95 % of the optimal ones", arguments: Store.allCases)
    func vectors(_ store: Store) {
        guard !CacheVector.all.isEmpty else { return }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cache-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var counts: [CacheVector.Kind: (passed: Int, all: Int)] = [:]
        for vector in CacheVector.all where !vector.isForSharedCaches {
            let memory = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            let player = CacheVectorPlayer(vector) {
                store == .memory ? memory : URLCache(memoryCapacity: 0, diskCapacity: 1 << 22, directory: folder)
            }
            let problem = player.firstProblem()
            counts[vector.kind, default: (0, 0)].all += 1
            if problem == nil { counts[vector.kind, default: (0, 0)].passed += 1 }
            switch vector.kind {
            case .required: #expect(problem == nil, "\(vector)")
            case .optimal: #expect(problem == nil || Self.notReached[vector.id] != nil, "\(vector): \(problem ?? "")")
            case .check: break
            }
        }
        for (kind, count) in counts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            print("cache-tests, \(store.rawValue): \(kind.rawValue) \(count.passed) of \(count.all)")
        }
        let optimal = counts[.optimal] ?? (0, 0)
        #expect(optimal.passed * 100 >= optimal.all * 95)
    }
}
