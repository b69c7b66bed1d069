import CausewaySystem
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
        // No caller performs actions at this point. So the next caller must perform the action that it adds.
        let third = line.add([4])
        #expect(third)
    }

    @Test("A batch is in reverse order; actions that are added meanwhile are the next batch")
    func batches() {
        var line = ActionLine<Int>(keepsStorage: true)
        var batch: [Int] = []
        let first = line.add([1, 2])
        let isTaken = line.takeAll(into: &batch)
        #expect(first && isTaken)
        var performed = [batch.popLast()]
        let second = line.add([3, 4])
        #expect(!second)
        repeat {
            while let action = batch.popLast() { performed.append(action) }
        } while line.takeAll(into: &batch)
        #expect(performed == [1, 2, 3, 4])
        let third = line.add([5])
        #expect(third)
    }

    @Test("A batch contains no action that was removed before")
    func mixed() {
        var line = ActionLine<Int>()
        var batch: [Int] = []
        _ = line.add([1, 2, 3])
        let first = line.next()
        let isTaken = line.takeAll(into: &batch)
        #expect(first == 1 && isTaken)
        #expect(batch == [3, 2])
    }
}
