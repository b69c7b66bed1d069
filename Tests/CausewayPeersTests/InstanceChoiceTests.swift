import Testing

@testable import CausewayPeers

@Suite("The instances that a browser shows")
struct InstanceChoiceTests {
    @Test("A flood of instances hides none that was shown, and others take the places of those that are gone")
    func flood() {
        var choice = InstanceChoice<Int>()
        func show(_ found: Set<Int>) -> Set<Int> {
            Set(choice.update(found, key: { $0 }, value: { $0 }).keys)
        }
        let first = show(Set(0..<100))
        #expect(first == Set(0..<100))
        // Sets of different sizes iterate their elements in different orders. The choice must not depend on this.
        for size in [2_000, 3_000, 5_000] {
            let shown = show(Set(0..<size))
            #expect(shown.count == 1_024 && shown.isSuperset(of: 0..<100))
        }
        let before = show(Set(0..<5_000))
        let after = show(Set(50..<5_000))
        #expect(after.count == 1_024 && after.isSuperset(of: before.subtracting(0..<50)))
    }

    @Test("Instances of others than peers take no place")
    func others() {
        var choice = InstanceChoice<Int>()
        let shown = choice.update(0..<5_000, key: { $0 }, value: { $0 % 5 == 0 ? "\($0)" : nil })
        #expect(shown.count == 1_000 && shown[5] == "5" && shown[6] == nil)
    }
}
