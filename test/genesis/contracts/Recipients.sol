// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {FeeCollector, Order} from "../../../genesis/contracts/FeeCollector.sol";

/// Recipients as one may meet them.

contract Refusing {
    receive() external payable {
        revert("no");
    }
}

contract Endless {
    receive() external payable {
        while (true) {}
    }
}

/// Writes as much as the fallback of a contract wallet does.
contract Working {
    mapping(uint256 => uint256) private log;
    uint256 private count;

    receive() external payable {
        log[++count] = msg.value;
    }
}

contract SendingBack {
    receive() external payable {
        (bool taken,) = msg.sender.call{value: msg.value}("");
        require(taken);
    }
}

/// Pays another order while it is being paid.
contract Reentering {
    FeeCollector private immutable collector;
    Order private order;
    bytes private signature;

    constructor(FeeCollector collector_) payable {
        collector = collector_;
    }

    function prepare(Order calldata order_, bytes calldata signature_) external {
        order = order_;
        signature = signature_;
    }

    receive() external payable {
        collector.pay{value: order.amount}(order, signature);
    }
}

/// Takes what it is owed, again from within.
contract Greedy {
    FeeCollector private immutable collector;
    bool private opened;
    uint256 public taken;

    constructor(FeeCollector collector_) {
        collector = collector_;
    }

    function fetch() external {
        opened = true;
        collector.withdraw(payable(address(this)));
    }

    receive() external payable {
        require(opened);
        taken += msg.value;
        try collector.withdraw(payable(address(this))) {} catch {}
    }
}
