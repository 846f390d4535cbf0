package main

import (
	"context"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/sidecoach/sidecoach/examples/temporal/session"
)

// scenario is what the histories of a session's runs say.
type scenario struct {
	name    string
	counts  session.Counts // what the session says of itself
	events  []int          // of each run
	bytes   []int64        // of each run
	signals map[string]int
	effects []session.Effect // that were to be done
	prompts []session.Prompt // that the agent was to be sent
	replies int              // of the agent that said something, or that failed
	kinds   map[enumspb.EventType]int
	again   int      // activities and tasks that were begun again
	unended int      // ends of a run that the server did not take, because a signal had come
	broken  []string // tasks of the workflow that failed because its code does not fit its history
}

// read reads the histories of a session, from its first run on.
func read(ctx context.Context, c client.Client, name, run string) (*scenario, error) {
	s := &scenario{name: name, signals: make(map[string]int), kinds: make(map[enumspb.EventType]int)}
	for run != "" {
		about, err := c.DescribeWorkflowExecution(ctx, workflowID(name), run)
		if err != nil {
			return nil, fmt.Errorf("history of %s: %w", name, err)
		}
		next := ""
		types := make(map[int64]string) // of activities, by the event that scheduled them
		n := 0
		events := c.GetWorkflowHistory(ctx, workflowID(name), run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			e, err := events.Next()
			if err != nil {
				return nil, fmt.Errorf("history of %s: %w", name, err)
			}
			n++
			s.kinds[e.GetEventType()]++
			if err := s.add(e, types); err != nil {
				return nil, fmt.Errorf("history of %s: event %d: %w", name, e.GetEventId(), err)
			}
			if new := e.GetWorkflowExecutionContinuedAsNewEventAttributes(); new != nil {
				next = new.GetNewExecutionRunId()
			}
		}
		s.events = append(s.events, n)
		s.bytes = append(s.bytes, about.GetWorkflowExecutionInfo().GetHistorySizeBytes())
		run = next
	}
	return s, nil
}

func (s *scenario) add(e *historypb.HistoryEvent, types map[int64]string) error {
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
		s.signals[e.GetWorkflowExecutionSignaledEventAttributes().GetSignalName()]++
	case enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
		s.again++
	case enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED:
		a := e.GetWorkflowTaskFailedEventAttributes()
		switch a.GetCause() {
		case enumspb.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR,
			enumspb.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE:
			s.broken = append(s.broken, a.GetFailure().GetMessage())
		case enumspb.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND:
			s.unended++
		default:
			s.again++
		}
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		a := e.GetActivityTaskScheduledEventAttributes()
		types[e.GetEventId()] = a.GetActivityType().GetName()
		switch a.GetActivityType().GetName() {
		case session.ActivityAct:
			return decode(a.GetInput(), &s.effects)
		case session.ActivityRunAgent:
			return decode(a.GetInput(), &s.prompts)
		}
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED:
		if e.GetActivityTaskStartedEventAttributes().GetAttempt() > 1 {
			s.again++
		}
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		a := e.GetActivityTaskCompletedEventAttributes()
		if types[a.GetScheduledEventId()] == session.ActivityRunAgent {
			var replies []session.Reply
			if err := decode(a.GetResult(), &replies); err != nil {
				return err
			}
			if replies[0].Text != "" {
				s.replies++
			}
		}
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED:
		if types[e.GetActivityTaskFailedEventAttributes().GetScheduledEventId()] == session.ActivityRunAgent {
			s.replies++
		}
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
		if types[e.GetActivityTaskTimedOutEventAttributes().GetScheduledEventId()] == session.ActivityRunAgent {
			s.replies++
		}
	}
	return nil
}

// decode appends what payloads hold to a list.
func decode[T any](p *commonpb.Payloads, list *[]T) error {
	var v T
	if err := converter.GetDefaultDataConverter().FromPayloads(p, &v); err != nil {
		return err
	}
	*list = append(*list, v)
	return nil
}
