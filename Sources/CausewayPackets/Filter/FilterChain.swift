/// Joins nodes by "and" and "or", which have equal precedence and associate to the left.
///
/// Nodes with the same joint form one list, so that a long chain makes no deep tree.
struct FilterChain {
    private var nodes: [FilterNode]
    /// The joint of the nodes; `nil` for a single node.
    private var joint: FilterJoint?
    /// The number of changes between "and" and "or". Each one makes the tree one level deeper.
    private(set) var alternations = 0

    init(_ first: FilterNode) {
        nodes = [first]
    }

    /// Adds a node.
    mutating func add(_ node: FilterNode, by joint: FilterJoint) {
        if let previous = self.joint, previous != joint {
            nodes = [self.node]
            alternations += 1
        }
        // The first node can be a list too, for example one in parentheses.
        if nodes.count == 1, joint == .or, case .any(let inner) = nodes[0] { nodes = inner }
        self.joint = joint
        nodes.append(node)
    }

    /// The joined nodes.
    var node: FilterNode {
        switch joint {
        case .and: .all(nodes)
        case .or: .any(nodes)
        case nil: nodes[0]
        }
    }
}

/// The words that join two filters.
enum FilterJoint {
    case and, or
}
