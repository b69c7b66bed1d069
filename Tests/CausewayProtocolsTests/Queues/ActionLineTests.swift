import CausewayProtocols
import Testing

@Suite("Actions, one performer at a time")
struct ActionLineTests {
    @Test("Actions added during a turn are performed by the current performer, in order")
    func order() {
        var line = ActionLine<Int>()
        let nothing = line.add([])
        let first = line.add([1, 2])
        #expect(!nothing && first)
        var performed = [line.next()]
        let second = line.add([3])
        #expect(!second)
        while let action = line.next() { performed.append(action) }
        #expect(performed == [1, 2, 3])
        // No caller performs actions now: the next caller performs its actions itself.
        let third = line.add([4])
        #expect(third)
    }
}
