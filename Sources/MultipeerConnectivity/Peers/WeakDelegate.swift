internal import Causeway
internal import CausewaySystem

/// Weak references to a public object and its delegate. Both may be read and set on any thread.
final class WeakDelegate<Owner: AnyObject, Delegate>: Sendable {
    private final class Faces {
        weak var owner: Owner?
        weak var delegate: AnyObject?
    }

    private let faces = LockedValue(Unchecked(Faces()))

    func attach(_ owner: Owner) {
        let owner = Unchecked(owner)
        faces.withLock { $0.value.owner = owner.value }
    }

    var delegate: Delegate? {
        get { both.value.1 }
        set {
            let delegate = Unchecked(newValue.map { $0 as AnyObject })
            faces.withLock { $0.value.delegate = delegate.value }
        }
    }

    /// The object and its delegate; `nil` unless both are alive.
    var pair: (owner: Owner, delegate: Delegate)? {
        let (owner, delegate) = both.value
        guard let owner, let delegate else { return nil }
        return (owner, delegate)
    }

    var owner: Owner? { both.value.0 }

    /// Reads both references under one lock. The caller releases them outside the lock, because the release of an
    /// object's last reference runs the program's code.
    private var both: Unchecked<(Owner?, Delegate?)> {
        faces.withLock { Unchecked(($0.value.owner, $0.value.delegate as? Delegate)) }
    }
}
