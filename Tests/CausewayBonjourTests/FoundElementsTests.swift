@testable import CausewayBonjour
import Testing

@Suite("Elements found on several links")
struct FoundElementsTests {
    private typealias Change = ServiceDiscovery.Change<String>

    @Test("An element on two links is added with the first, and removed with the last one")
    func twoLinks() {
        var found = FoundElements<String>()
        let steps: [(Change, Int)] = [
            (.added("a"), 1), (.added("a"), 2), (.removed("a"), 1), (.added("b"), 1), (.removed("a"), 2),
            (.added("a"), 1),
        ]
        let told: [Change?] = steps.map { found.changed($0.0, on: $0.1) }
        #expect(told == [.added("a"), nil, nil, .added("b"), .removed("a"), .added("a")])
    }

    @Test("The removal of an element that was never added is passed on")
    func unknown() {
        var found = FoundElements<String>()
        let told = found.changed(.removed("a"), on: 1)
        #expect(told == .removed("a"))
    }
}
